// The arguments of `open` as KafkaJS's settings. It has none for linger_ms and batch_bytes.

import kafkajs from 'kafkajs'

import { security } from './kafka_properties.js'

/** Only gzip comes with KafkaJS; it refuses to send with the others. */
export const COMPRESSION = {
  none: kafkajs.CompressionTypes.None,
  gzip: kafkajs.CompressionTypes.GZIP,
  snappy: kafkajs.CompressionTypes.Snappy,
  lz4: kafkajs.CompressionTypes.LZ4,
  zstd: kafkajs.CompressionTypes.ZSTD,
}
const FIRST_WAIT_MS = 300 // before a request is sent again, KafkaJS's own; each wait is twice as long as the one before
const FETCH_WAIT_MS = 500 // fetch.max.wait.ms of Java; KafkaJS's own 5 s would delay a resumed partition

export function kafkaSettings(given) {
  return {
    brokers: given.bootstrap.split(','),
    clientId: given.client_id,
    requestTimeout: given.request_timeout_ms,
    logLevel: kafkajs.logLevel.WARN,
    logCreator: () => ({ namespace, label, log }) => process.stderr.write(`${label} ${namespace} ${log.message}\n`),
    ...secured(given.properties_file),
  }
}

export function producerSettings(given) {
  return {
    idempotent: given.idempotent,
    transactionalId: given.transactional_id ?? undefined,
    transactionTimeout: given.transaction_timeout_ms,
    maxInFlightRequests: given.in_flight,
    retry: { retries: retriesWithin(given.delivery_timeout_ms) },
    createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
  }
}

export function consumerSettings(given) {
  return {
    groupId: given.group,
    readUncommitted: given.isolation === 'read_uncommitted',
    sessionTimeout: given.session_timeout_ms,
    rebalanceTimeout: given.session_timeout_ms,
    heartbeatInterval: Math.floor(given.session_timeout_ms / 3),
    maxBytesPerPartition: given.fetch_bytes,
    maxWaitTimeInMs: FETCH_WAIT_MS,
  }
}

/** As many as there are waits within the time; at least one, which KafkaJS demands of an idempotent producer. */
function retriesWithin(ms) {
  return Math.max(1, Math.floor(Math.log2(ms / FIRST_WAIT_MS + 1)))
}

function secured(file) {
  const { tls, sasl } = security(file)
  return {
    ...(tls ? { ssl: tlsOptions(tls) } : {}),
    ...(sasl ? { sasl: { ...sasl, mechanism: sasl.mechanism.toLowerCase() } } : {}),
  }
}

/** Options of Node's tls.connect. */
function tlsOptions({ ca, cert, key, passphrase, verifyName }) {
  return { ca, cert, key, passphrase, ...(verifyName ? {} : { checkServerIdentity: () => undefined }) }
}
