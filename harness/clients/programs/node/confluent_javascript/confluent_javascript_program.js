// An adapter of librdkafka's binding for Node.js, confluent-kafka-javascript.
//
// It drives the callback API, which has a call for each of librdkafka's; the promise API runs on top of it, with
// `begin` and `init` in one and without positions.

import { createRequire } from 'node:module'

import library from '@confluentinc/kafka-javascript'

import { Unsupported, serve, within } from './adapter_lines.js'
import { failed, said } from './confluent_javascript_errors.js'
import { consuming, producing } from './confluent_javascript_settings.js'

const BEGINNING = -2 // RD_KAFKA_OFFSET_BEGINNING
const MOST = 100 // records of one answer: it waits up to CONSUME_MS for each of them
const CONSUME_MS = 50
const CLOSE_MS = 3000
const MARGIN_MS = 1000

/** One producer and one consumer at most, each made and connected when it is first needed. */
class Adapter {
  settled = [] // results of records, not yet told
  unsettled = new Set()
  consumer = null

  open(given) {
    this.given = given
    producing(given) // what cannot be is told now
    const { version } = createRequire(import.meta.url)('@confluentinc/kafka-javascript/package.json')
    return { library: 'confluent-javascript', version }
  }

  async init() {
    const time = this.time()
    const producer = await this.producer(time)
    await time.called(producer, 'initTransactions', time.left)
  }

  async begin() {
    const time = this.time()
    await time.called(await this.producer(time), 'beginTransaction')
  }

  async produce({ topic, partition, values, wait }) {
    const time = this.time()
    const producer = await this.producer(time)
    const results = values.map(value => this.sent(producer, { topic, partition, value }))
    if (!wait) return undefined
    const undone = (await time.bounded(Promise.all(results))).find(({ outcome }) => outcome !== 'done')
    return undone && { outcome: undone.outcome, error: undone.error }
  }

  flush() {
    return this.settledBy('flush')
  }

  async send_offsets({ offsets }) {
    if (!this.consumer) {
      throw new Unsupported("librdkafka takes the group's metadata from a consumer: subscribe comes first")
    }
    const time = this.time()
    const producer = await this.producer(time)
    await time.called(producer, 'sendOffsetsToTransaction', offsets, this.consumer, time.left)
  }

  commit() {
    return this.settledBy('commitTransaction')
  }

  abort() {
    return this.settledBy('abortTransaction')
  }

  async subscribe({ topics, partitions }) {
    this.consumer?.disconnect()
    this.consumer = null
    const time = this.time()
    const consumer = new library.KafkaConsumer(consuming(this.given))
    consumer.setDefaultConsumeTimeout(CONSUME_MS)
    await time.called(consumer, 'connect', { timeout: time.left })
    if (topics) consumer.subscribe(topics)
    else consumer.assign(partitions.map(each => ({ ...each, offset: BEGINNING })))
    this.consumer = consumer
  }

  async poll({ within_ms }) {
    if (!this.consumer) throw new Unsupported('subscribe comes first')
    const until = Date.now() + within_ms
    let messages
    do {
      messages = await promised(this.consumer, 'consume', MOST)
    } while (!messages.length && Date.now() < until)
    return { records: messages.map(record), positions: this.consumer.position().filter(({ offset }) => offset >= 0) }
  }

  // The consumer leaves its group. The producer is left as it is: to disconnect it is to send what waits.
  async close() {
    if (this.consumer) await within(CLOSE_MS, promised(this.consumer, 'disconnect')).catch(() => undefined)
  }

  deliveries() {
    return this.settled.splice(0)
  }

  time() {
    return new CallTime(this.given.block_ms)
  }

  producer(time) {
    this.connecting ??= this.connectedProducer(time).catch(error => {
      this.connecting = null
      throw error
    })
    return this.connecting
  }

  async connectedProducer(time) {
    const producer = new library.Producer(producing(this.given))
    producer.on('delivery-report', (error, report) => report.opaque.settle(error, report))
    await time.called(producer, 'connect', { timeout: time.left })
    producer.setPollInBackground(true)
    return producer
  }

  /** Reports come by another thread, and so perhaps after the call that they belong to. */
  async settledBy(name) {
    const time = this.time()
    await time.called(await this.producer(time), name, time.left)
    await time.bounded(Promise.all(this.unsettled))
  }

  /** A promise of the record's result, once the library has taken it. */
  sent(producer, place) {
    let settle
    const result = new Promise(resolve => {
      settle = resolve
    }).then(fields => {
      const delivery = { ...place, ...fields }
      this.unsettled.delete(result)
      this.settled.push(delivery)
      return delivery
    })
    const settled = (error, { offset }) => settle(error ? { offset: null, ...failed(error) } : { offset, outcome: 'done' })
    producer.produce(place.topic, place.partition, Buffer.from(place.value), null, null, { settle: settled })
    this.unsettled.add(result)
    return result
  }
}

/** What one call may take. Librdkafka keeps to it by itself; the margin lets it tell so. */
class CallTime {
  constructor(ms) {
    this.until = Date.now() + ms
  }

  get left() {
    return Math.max(1, this.until - Date.now())
  }

  bounded(work) {
    return within(this.left + MARGIN_MS, work)
  }

  called(client, name, ...given) {
    return this.bounded(promised(client, name, ...given))
  }
}

function promised(client, name, ...given) {
  return new Promise((resolve, reject) => {
    client[name](...given, (error, value) => (error ? reject(error) : resolve(value)))
  })
}

function record({ topic, partition, offset, value }) {
  return { topic, partition, offset, value: value?.toString() ?? '' }
}

serve(new Adapter(), said)
