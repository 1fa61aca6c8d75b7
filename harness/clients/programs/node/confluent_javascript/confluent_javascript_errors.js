// Errors of librdkafka's binding as fields of an answer.

import library from '@confluentinc/kafka-javascript'

const { ERRORS } = library.CODES
const TIMED_OUT = [ERRORS.ERR__TIMED_OUT, ERRORS.ERR__MSG_TIMED_OUT]
const NAMES = new Map(Object.entries(ERRORS).map(([name, code]) => [code, name.replace(/^ERR_/, '')]))

export function said(error) {
  return Number.isInteger(error.code) ? failed(error) : refused(error)
}

/** Librdkafka's flags, in the order in which its documentation tells applications to look at them. */
export function failed({ code, message, isFatal, isTxnRequiresAbort, isRetriable }) {
  const kind = (isFatal && 'fatal') || (isTxnRequiresAbort && 'abortable') || (isRetriable && 'retriable') || null
  const outcome = TIMED_OUT.includes(code) ? 'unsure' : 'refused'
  return { outcome, error: { type: NAMES.get(code) ?? 'unknown', message, code: code > 0 ? code : null, class: kind } }
}

/** An error of the binding itself. */
function refused({ name, message }) {
  return { outcome: 'refused', error: { type: name, message, code: null, class: null } }
}
