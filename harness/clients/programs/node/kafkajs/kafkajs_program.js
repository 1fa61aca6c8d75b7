// An adapter of KafkaJS.

import { createRequire } from 'node:module'

import kafkajs from 'kafkajs'

import { notDone, serve, within } from './adapter_lines.js'
import { said } from './kafkajs_errors.js'
import { PolledConsumer } from './kafkajs_consumer.js'
import { COMPRESSION, kafkaSettings, producerSettings } from './kafkajs_settings.js'

const CLOSE_MS = 2000 // KafkaJS lets a fetch end before it disconnects

/** One producer and one consumer at most, each made when it is first needed. */
class Adapter {
  settled = [] // results of records, not yet told
  unsettled = new Set()
  transaction = null
  consumer = null

  open(given) {
    this.given = given
    this.kafka = new kafkajs.Kafka(kafkaSettings(given))
    this.producer = this.kafka.producer(producerSettings(given))
    return { library: 'kafkajs', version: createRequire(import.meta.url)('kafkajs/package.json').version }
  }

  // KafkaJS asks for the producer id with the first transaction. One without records ends without a request.
  async init() {
    const first = async () => {
      await this.connected()
      this.transaction = await this.producer.transaction()
      await this.transaction.abort()
    }
    await within(this.given.block_ms, first())
  }

  async begin() {
    this.transaction = await within(this.given.block_ms, this.producer.transaction())
  }

  async produce({ topic, partition, values, wait }) {
    const result = this.sent(topic, partition, values)
    return wait ? within(this.given.block_ms, result) : undefined
  }

  async flush() {
    await within(this.given.block_ms, this.allSettled())
  }

  async send_offsets({ group, offsets }) {
    if (!this.transaction) return noTransaction()
    const topics = new Map(offsets.map(({ topic }) => [topic, { topic, partitions: [] }]))
    for (const { topic, partition, offset } of offsets) {
      topics.get(topic).partitions.push({ partition, offset: String(offset) })
    }
    const sending = this.transaction.sendOffsets({ consumerGroupId: group, topics: [...topics.values()] })
    await within(this.given.block_ms, sending)
  }

  commit() {
    return this.ended(() => this.transaction.commit())
  }

  abort() {
    return this.ended(() => this.transaction.abort())
  }

  async subscribe({ topics, partitions }) {
    this.consumer?.close()
    this.consumer = new PolledConsumer(this.kafka, this.given, partitions)
    await within(this.given.block_ms, this.consumer.start(topics ?? partitions.map(({ topic }) => topic)))
  }

  poll({ within_ms }) {
    return this.consumer ? this.consumer.poll(within_ms) : notDone('refused', 'unsupported', 'subscribe comes first')
  }

  async close() {
    const closing = Promise.allSettled([this.producer?.disconnect(), this.consumer?.close()])
    await within(CLOSE_MS, closing).catch(() => undefined)
  }

  deliveries() {
    return this.settled.splice(0)
  }

  connected() {
    this.connecting ??= this.producer.connect().catch(error => {
      this.connecting = null
      throw error
    })
    return this.connecting
  }

  // KafkaJS lets the application wait for what a transaction sends before it ends it.
  async ended(end) {
    if (!this.transaction) return noTransaction()
    const until = Date.now() + this.given.block_ms
    await within(this.given.block_ms, this.allSettled())
    await within(until - Date.now(), end())
  }

  allSettled() {
    return Promise.all(this.unsettled)
  }

  /** A promise of the answer's fields, when each of the records has its result: they go out in one request. */
  sent(topic, partition, values) {
    const sending = this.sending(topic, values.map(value => ({ key: null, value, partition })))
    const place = value => ({ topic, partition, value })
    const result = sending.then(
      ([{ baseOffset }]) => {
        this.settled.push(...values.map((value, n) => ({ ...place(value), outcome: 'done', offset: nth(baseOffset, n) })))
      },
      error => {
        this.settled.push(...values.map(value => ({ ...place(value), offset: null, ...said(error) })))
        return said(error)
      },
    )
    this.unsettled.add(result)
    result.finally(() => this.unsettled.delete(result))
    return result
  }

  async sending(topic, messages) {
    const { transactional_id, compression, request_timeout_ms } = this.given
    if (transactional_id && !this.transaction) throw new Error('init or begin comes before produce')
    if (!transactional_id) await this.connected()
    const by = transactional_id ? this.transaction : this.producer
    return by.send({ topic, messages, compression: COMPRESSION[compression], timeout: request_timeout_ms })
  }
}

function nth(baseOffset, n) {
  return Number(baseOffset) < 0 ? null : Number(baseOffset) + n
}

function noTransaction() {
  return notDone('refused', 'unsupported', 'KafkaJS ends a transaction by the object that its begin gives: there is none')
}

serve(new Adapter(), said)
