// KafkaJS pushes records to its application; here they wait in a bounded queue until they are asked for.

import { randomUUID } from 'node:crypto'

import kafkajs from 'kafkajs'

import { consumerSettings } from './kafkajs_settings.js'

const FULL = 2000 // records that may wait; beyond them nothing more is fetched
const MOST = 500 // records of one answer

/**
 * Without a group of its own the consumer has a private one, because KafkaJS reads in groups alone: its one member
 * assigns itself the partitions, and goes on where it was when it has to join again.
 */
export class PolledConsumer {
  queue = [] // { topic, partition, next, record }: `next` is the position behind it; no record: only the position moved
  positions = new Map()
  failure = null
  wake = () => undefined

  constructor(kafka, given, partitions) {
    const alone = partitions && { groupId: `${given.client_id}-${randomUUID()}`, partitionAssigners: [only(partitions)] }
    this.alone = Boolean(partitions)
    this.consumer = kafka.consumer({ ...consumerSettings(given), ...alone })
    const { GROUP_JOIN, END_BATCH_PROCESS, CRASH } = this.consumer.events
    this.consumer.on(GROUP_JOIN, () => this.joined())
    this.consumer.on(END_BATCH_PROCESS, ({ payload }) => this.processed(payload))
    this.consumer.on(CRASH, ({ payload }) => payload.restart || this.failed(payload.error))
  }

  /** A promise of the connection; that it joins goes on behind, as in other clients. */
  async start(topics) {
    this.topics = [...new Set(topics)].map(topic => ({ topic }))
    try {
      await this.consumer.connect()
      await this.consumer.subscribe({ topics: this.topics.map(({ topic }) => topic), fromBeginning: true })
    } catch (error) {
      this.failed(error)
      throw error
    }
    this.consumer.run({ autoCommit: false, eachBatch: async given => this.take(given) }).catch(error => this.failed(error))
  }

  async poll(ms) {
    if (!this.hasRecords() && !this.failure) await this.somethingWithin(ms)
    const records = []
    while (this.queue.length && records.length < MOST) {
      const { topic, partition, next, record } = this.queue.shift()
      this.positions.set(`${topic}/${partition}`, { topic, partition, offset: next })
      if (record) records.push(record)
    }
    if (this.paused && this.queue.length < FULL / 2) this.resume()
    if (!records.length && this.failure) throw this.failure
    return { records, positions: [...this.positions.values()] }
  }

  close() {
    return this.consumer.disconnect()
  }

  take({ batch, isStale }) {
    if (isStale()) return // a seek came between: its position is fetched again
    const { topic, partition } = batch
    for (const message of batch.messages) {
      const offset = Number(message.offset)
      const record = { topic, partition, offset, value: message.value?.toString() ?? '' }
      this.queue.push({ topic, partition, next: offset + 1, record })
    }
    if (this.queue.length >= FULL) {
      this.paused = true
      this.consumer.pause(this.topics)
    }
  }

  /** Of a batch, when its records are taken, and of one in which all was a marker or aborted. */
  processed({ topic, partition, lastOffset }) {
    this.queue.push({ topic, partition, next: Number(lastOffset) + 1 })
    if (this.hasRecords()) this.wake()
  }

  /** What waits was fetched before: a member begins again at the group's offsets, one alone where it was. */
  joined() {
    this.queue = []
    if (this.paused) this.resume()
    if (!this.alone) return this.positions.clear()
    for (const each of this.positions.values()) this.consumer.seek({ ...each, offset: String(each.offset) })
  }

  failed(error) {
    this.failure = error
    this.wake()
  }

  resume() {
    this.paused = false
    this.consumer.resume(this.topics)
  }

  hasRecords() {
    return this.queue.some(({ record }) => record)
  }

  somethingWithin(ms) {
    return new Promise(resolve => {
      const timer = setTimeout(resolve, ms)
      this.wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}

/** An assigner that gives these partitions to every member: there is one, and perhaps its own earlier self. */
function only(partitions) {
  const { MemberAssignment, MemberMetadata } = kafkajs.AssignerProtocol
  const assignment = {}
  for (const { topic, partition } of partitions) (assignment[topic] ??= []).push(partition)
  const memberAssignment = MemberAssignment.encode({ version: 0, assignment, userData: Buffer.alloc(0) })
  const name = 'only'
  return () => ({
    name,
    version: 0,
    assign: async ({ members }) => members.map(({ memberId }) => ({ memberId, memberAssignment })),
    protocol: ({ topics }) => ({
      name,
      metadata: MemberMetadata.encode({ version: 0, topics, userData: Buffer.alloc(0) }),
    }),
  })
}
