package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

var codecs = map[string]kgo.CompressionCodec{
	"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
	"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
}

func (a *Adapter) subscribe(call Call) Answer {
	if a.consumer != nil {
		return unsupported("this adapter subscribes once")
	}
	if len(call.Topics) > 0 && a.settings.TransactionalID != "" && a.settings.Group != "" {
		if err := a.openProducer(); err != nil {
			return said(err)
		}
		a.consumer = a.producer
		a.consumer.AddConsumeTopics(call.Topics...)
		return Answer{}
	}
	var err error
	if a.consumer, err = kgo.NewClient(append(a.shared(), a.reading(call)...)...); err != nil {
		return said(err)
	}
	return Answer{}
}

func (a *Adapter) reading(call Call) []kgo.Opt {
	options := a.consuming()
	if len(call.Topics) == 0 {
		partitions := map[string]map[int32]kgo.Offset{}
		for _, each := range call.Partitions {
			if partitions[each.Topic] == nil {
				partitions[each.Topic] = map[int32]kgo.Offset{}
			}
			partitions[each.Topic][each.Partition] = kgo.NewOffset().AtStart()
		}
		return append(options, kgo.ConsumePartitions(partitions))
	}
	if a.settings.Group != "" {
		options = append(options, a.joining()...)
	}
	return append(options, kgo.ConsumeTopics(call.Topics...))
}

// poll keeps control records from the answer. They are asked for because a record's offset is all that tells how far
// this library has read: without them a position stays before the marker of the last transaction.
func (a *Adapter) poll(call Call) Answer {
	if a.consumer == nil {
		return unsupported("subscribe comes first")
	}
	ctx, cancel := context.WithTimeout(context.Background(), max(call.Within.Duration(), time.Millisecond))
	defer cancel()
	var answer Answer
	for len(answer.Records) == 0 && answer.Error == nil && ctx.Err() == nil {
		fetches := a.consumer.PollRecords(ctx, mostPolled)
		fetches.EachRecord(func(record *kgo.Record) {
			a.moveTo(record.Topic, record.Partition, record.Offset+1)
			if !record.Attrs.IsControl() {
				place := Place{Topic: record.Topic, Partition: record.Partition, Offset: record.Offset}
				answer.Records = append(answer.Records, Record{Place: place, Value: string(record.Value)})
			}
		})
		fetches.EachError(func(_ string, _ int32, err error) {
			if answer.Error == nil && !errors.Is(err, context.DeadlineExceeded) {
				failure := failureOf(err)
				answer.Outcome, answer.Error = refused, &failure
			}
		})
	}
	answer.Positions = a.reached()
	return answer
}

func (a *Adapter) moveTo(topic string, partition int32, offset int64) {
	a.positionsLock.Lock()
	defer a.positionsLock.Unlock()
	if a.positions[topic] == nil {
		a.positions[topic] = map[int32]int64{}
	}
	a.positions[topic][partition] = offset
}

func (a *Adapter) reached() []Place {
	a.positionsLock.Lock()
	defer a.positionsLock.Unlock()
	var places []Place
	for topic, partitions := range a.positions {
		for partition, offset := range partitions {
			places = append(places, Place{Topic: topic, Partition: partition, Offset: offset})
		}
	}
	return places
}

func (a *Adapter) forgetPositions() {
	a.positionsLock.Lock()
	defer a.positionsLock.Unlock()
	clear(a.positions)
}

// forget is called for partitions that the group has taken away.
func (a *Adapter) forget(_ context.Context, _ *kgo.Client, gone map[string][]int32) {
	a.positionsLock.Lock()
	defer a.positionsLock.Unlock()
	for topic, partitions := range gone {
		for _, partition := range partitions {
			delete(a.positions[topic], partition)
		}
	}
}

func (a *Adapter) openProducer() error {
	if a.producer != nil {
		return nil
	}
	options := append(a.shared(), a.producing()...)
	var err error
	if a.settings.TransactionalID == "" || a.settings.Group == "" {
		a.producer, err = kgo.NewClient(options...)
		return err
	}
	options = append(append(options, a.consuming()...), a.joining()...)
	if a.session, err = kgo.NewGroupTransactSession(options...); err == nil {
		a.producer = a.session.Client()
	}
	return err
}

func (a *Adapter) shared() []kgo.Opt {
	options := []kgo.Opt{
		kgo.SeedBrokers(strings.Split(a.settings.Bootstrap, ",")...),
		kgo.ClientID(a.settings.ClientID),
		kgo.DialTimeout(a.settings.RequestTimeout.Duration()),
		kgo.RequestTimeoutOverhead(a.settings.RequestTimeout.Duration()), // beyond a timeout that stands in the request
		kgo.RetryTimeout(a.settings.Block.Duration()),
	}
	if a.security.TLS != nil {
		options = append(options, kgo.DialTLSConfig(a.security.TLS))
	}
	user, password := a.security.Username, a.security.Password
	switch a.security.Mechanism {
	case "PLAIN":
		options = append(options, kgo.SASL(plain.Auth{User: user, Pass: password}.AsMechanism()))
	case "SCRAM-SHA-256":
		options = append(options, kgo.SASL(scram.Auth{User: user, Pass: password}.AsSha256Mechanism()))
	case "SCRAM-SHA-512":
		options = append(options, kgo.SASL(scram.Auth{User: user, Pass: password}.AsSha512Mechanism()))
	}
	return options
}

func (a *Adapter) producing() []kgo.Opt {
	options := []kgo.Opt{
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProduceRequestTimeout(a.settings.RequestTimeout.Duration()),
		kgo.RecordDeliveryTimeout(a.settings.DeliveryTimeout.Duration()),
		kgo.ProducerLinger(a.settings.Linger.Duration()),
		kgo.ProducerBatchMaxBytes(int32(a.settings.BatchBytes)), // a record that is larger is refused
		kgo.ProducerBatchCompression(codecs[a.settings.Compression]),
	}
	switch {
	case a.settings.TransactionalID != "":
		return append(options,
			kgo.TransactionalID(a.settings.TransactionalID),
			kgo.TransactionTimeout(a.settings.TransactionTimeout.Duration()),
		)
	case !a.settings.Idempotent: // else the library sets the requests in flight, and refuses others
		return append(options, kgo.DisableIdempotentWrite(), kgo.MaxProduceRequestsInflightPerBroker(a.settings.InFlight))
	}
	return options
}

func (a *Adapter) consuming() []kgo.Opt {
	isolation := kgo.ReadUncommitted()
	if a.settings.Isolation == "read_committed" {
		isolation = kgo.ReadCommitted()
	}
	return []kgo.Opt{
		kgo.FetchIsolationLevel(isolation),
		kgo.FetchMaxPartitionBytes(a.settings.FetchBytes),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.KeepControlRecords(),
	}
}

func (a *Adapter) joining() []kgo.Opt {
	return []kgo.Opt{
		kgo.ConsumerGroup(a.settings.Group),
		kgo.SessionTimeout(a.settings.SessionTimeout.Duration()),
		kgo.HeartbeatInterval(a.settings.SessionTimeout.Duration() / 3),
		kgo.RequireStableFetchOffsets(),
		kgo.DisableAutoCommit(),
		kgo.OnPartitionsRevoked(a.forget),
		kgo.OnPartitionsLost(a.forget),
	}
}
