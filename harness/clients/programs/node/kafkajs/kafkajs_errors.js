// Errors of KafkaJS as fields of an answer.

import kafkajs from 'kafkajs'

// It has asked and knows no answer, or has given up asking.
const DOUBTFUL = [
  kafkajs.KafkaJSRequestTimeoutError,
  kafkajs.KafkaJSConnectionError,
  kafkajs.KafkaJSTimeout,
  kafkajs.KafkaJSNumberOfRetriesExceeded,
]

/**
 * `retriable` is a property of each of its errors. That an error is not retriable is no class of its own: KafkaJS does
 * not say whether the transaction can still be aborted.
 */
export function said(error) {
  const chain = chained(error)
  const outcome = chain.some(each => DOUBTFUL.some(type => each instanceof type)) ? 'unsure' : 'refused'
  const kind = error.retriable === true ? 'retriable' : null
  return { outcome, error: { ...told(error), class: kind, causes: chain.slice(1).map(told) } }
}

/** The error and what it wraps; an error that KafkaJS names as its own cause stands once. */
function chained(error) {
  const chain = []
  for (let each = error; each instanceof Error && !chain.includes(each); each = each.cause) chain.push(each)
  return chain
}

/** `type` is Kafka's name of the error, where the error is a broker's answer. */
function told(error) {
  const code = Number.isInteger(error.code) && error.code >= -1 ? error.code : null // -99: not known to KafkaJS
  return { type: error.type ?? error.name, message: String(error.message), code }
}
