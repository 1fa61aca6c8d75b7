// The arguments of `open` as librdkafka's settings.

import { security } from './kafka_properties.js'

export function producing(given) {
  return {
    ...connecting(given),
    ...(given.transactional_id ? transactional(given) : { 'enable.idempotence': given.idempotent }),
    'socket.timeout.ms': given.request_timeout_ms,
    'request.timeout.ms': given.request_timeout_ms,
    'message.timeout.ms': given.delivery_timeout_ms,
    'linger.ms': given.linger_ms,
    'batch.size': given.batch_bytes,
    'max.in.flight': given.in_flight,
    'compression.type': given.compression,
    dr_cb: true,
  }
}

export function consuming(given) {
  return {
    ...connecting(given),
    'group.id': given.group ?? 'none', // it must have a name, also where it is never joined
    'isolation.level': given.isolation,
    'session.timeout.ms': given.session_timeout_ms,
    'max.partition.fetch.bytes': given.fetch_bytes,
    'auto.offset.reset': 'earliest',
    'enable.auto.commit': false,
  }
}

function transactional(given) {
  return { 'transactional.id': given.transactional_id, 'transaction.timeout.ms': given.transaction_timeout_ms }
}

function connecting(given) {
  return {
    'bootstrap.servers': given.bootstrap,
    'client.id': given.client_id,
    log_level: 3,
    ...secured(given.properties_file),
  }
}

function secured(file) {
  const { protocol, tls, sasl } = security(file)
  const settings = {
    'security.protocol': protocol.toLowerCase(),
    'ssl.ca.pem': tls?.ca,
    'ssl.certificate.pem': tls?.cert,
    'ssl.key.pem': tls?.key,
    'ssl.key.password': tls?.passphrase,
    'ssl.endpoint.identification.algorithm': tls && (tls.verifyName ? 'https' : 'none'),
    'sasl.mechanisms': sasl?.mechanism,
    'sasl.username': sasl?.username,
    'sasl.password': sasl?.password,
  }
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined && value !== null))
}
