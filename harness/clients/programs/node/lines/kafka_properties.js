// How to connect to a secured cluster, from a file in Kafka's own format (SslConfigs, SaslConfigs).

import fs from 'node:fs'
import path from 'node:path'

import { Unsupported } from './adapter_lines.js'

const PROTOCOLS = ['PLAINTEXT', 'SSL', 'SASL_PLAINTEXT', 'SASL_SSL']
const MECHANISMS = ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512']

/**
 * `{ protocol, tls, sasl }`; `tls` is `{ ca, cert, key, passphrase, verifyName }` with PEM texts (undefined: none is
 * named), `sasl` is `{ mechanism, username, password }`; each null where the protocol does without.
 */
export function security(file) {
  const given = file ? properties(fs.readFileSync(file, 'utf8')) : {}
  const protocol = (given['security.protocol'] ?? 'PLAINTEXT').toUpperCase()
  if (!PROTOCOLS.includes(protocol)) throw new Unsupported(`security.protocol is ${protocol}`)
  return {
    protocol,
    tls: protocol.endsWith('SSL') ? tls(given, path.dirname(file)) : null,
    sasl: protocol.startsWith('SASL') ? sasl(given) : null,
  }
}

function tls(given, folder) {
  const pem = key => (given[key] === undefined ? undefined : pemText(key, path.resolve(folder, given[key])))
  const store = pem('ssl.keystore.location')
  return {
    ca: given['ssl.truststore.certificates'] ?? pem('ssl.truststore.location'),
    cert: given['ssl.keystore.certificate.chain'] ?? store,
    key: given['ssl.keystore.key'] ?? store,
    passphrase: given['ssl.key.password'],
    verifyName: given['ssl.endpoint.identification.algorithm'] !== '',
  }
}

function pemText(key, file) {
  const text = fs.readFileSync(file, 'latin1')
  if (!text.includes('-----BEGIN ')) throw new Unsupported(`${key} names ${path.basename(file)}, which is not PEM`)
  return text
}

function sasl(given) {
  const mechanism = given['sasl.mechanism'] ?? 'GSSAPI' // SaslConfigs.DEFAULT_SASL_MECHANISM
  if (!MECHANISMS.includes(mechanism)) {
    throw new Unsupported(`sasl.mechanism is ${mechanism}; this adapter knows ${MECHANISMS.join(', ')}`)
  }
  const options = (given['sasl.jaas.config'] ?? '').matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)
  const { username, password } = Object.fromEntries([...options].map(([, key, text]) => [key, unescaped(text)]))
  if (username === undefined || password === undefined) {
    throw new Unsupported('sasl.jaas.config names no username and password')
  }
  return { mechanism, username, password }
}

/** As java.util.Properties reads them, but for \uXXXX. */
function properties(text) {
  const lines = text.replace(/\\\r?\n[ \t]*/g, '').split(/\r?\n/).map(line => line.trim())
  const pairs = lines.filter(line => line && !/^[#!]/.test(line)).map(line => /^([^=:\s]+)\s*[=:\s]\s*(.*)$/.exec(line))
  return Object.fromEntries(pairs.filter(Boolean).map(([, key, value]) => [key, unescaped(value)]))
}

function unescaped(text) {
  return text.replace(/\\(.)/g, (_, letter) => ({ n: '\n', t: '\t', r: '\r' })[letter] ?? letter)
}
