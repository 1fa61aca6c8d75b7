// Reads calls from standard input and answers them, for adapters in JavaScript; see PROTOCOL.md.
//
// An adapter is an object with a method for each call that it can do, and `deliveries`. A method gets the call's
// arguments as one object and returns the fields of its answer, or a promise of them; undefined is done. The
// library's errors are thrown, and `said` turns one into fields.

import { Console } from 'node:console'
import readline from 'node:readline'

const CALLS = new Set([
  'open', 'init', 'begin', 'produce', 'flush', 'send_offsets', 'commit', 'abort', 'subscribe', 'poll', 'close',
])
const LAST_ANSWER_MS = 2000 // for a call that is not answered yet when the input ends

/** The library has nothing for this call. */
export class Unsupported extends Error {}

/** The library has not answered within the time that a call has. */
export class OutOfTime extends Error {
  name = 'OutOfTime'
}

/** What the promise `work` gives, or OutOfTime; work that then goes on is left alone, and its error told on stderr. */
export async function within(ms, work) {
  let timer
  const over = new Promise((_, reject) => {
    timer = setTimeout(() => {
      work.catch(told)
      reject(new OutOfTime(`the library has not answered within ${ms} ms`))
    }, ms)
  })
  return Promise.race([work, over]).finally(() => clearTimeout(timer))
}

/** The fields of a call that is refused or unsure, with an error that has no Kafka code. */
export function notDone(outcome, type, message) {
  return { outcome, error: { type, message, code: null, class: null } }
}

/** Answer calls until `close` or the end of the input. */
export function serve(adapter, said) {
  // What a library prints would stand between answers.
  globalThis.console = new Console(process.stderr, process.stderr)
  process.on('unhandledRejection', told) // of a library's own work, which must not end the program
  let answered = Promise.resolve()
  const input = readline.createInterface({ input: process.stdin, crlfDelay: Infinity })
  input.on('line', line => {
    const call = JSON.parse(line)
    answered = answered.then(() => answer(adapter, said, call))
  })
  input.on('close', () => {
    setTimeout(() => process.exit(0), LAST_ANSWER_MS)
    answered.then(() => process.exit(0))
  })
}

async function answer(adapter, said, { id, call, ...given }) {
  const fields = await fieldsOf(adapter, said, call, given)
  const arrived = adapter.deliveries()
  const line = JSON.stringify({ id, outcome: 'done', ...fields, ...(arrived.length ? { deliveries: arrived } : {}) })
  await new Promise(written => process.stdout.write(`${line}\n`, written))
  if (call === 'close') process.exit(0)
}

async function fieldsOf(adapter, said, call, given) {
  try {
    if (!CALLS.has(call)) throw new Unsupported(`this adapter does not know the call ${call}`)
    return await adapter[call](given)
  } catch (error) {
    if (error instanceof Unsupported) return notDone('refused', 'unsupported', error.message)
    if (error instanceof OutOfTime) return notDone('unsure', error.name, error.message)
    return said(error)
  }
}

function told(error) {
  process.stderr.write(`${error?.stack ?? error}\n`)
}
