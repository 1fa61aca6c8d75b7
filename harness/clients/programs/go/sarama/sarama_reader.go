package main

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/IBM/sarama"
)

const (
	mostPolled = 500
	// quiet is how long a poll waits for a further record: the library hands them over one by one.
	quiet = 10 * time.Millisecond
)

// Reader is a group member, or reads partitions. Nothing lies between the library's channels and poll, so that no
// record of a partition that was taken away is left over.
type Reader struct {
	records  chan *sarama.ConsumerMessage
	failures chan error
	context  context.Context
	stop     context.CancelFunc
	closing  func() error
	lock     sync.Mutex
	group    string
	session  sarama.ConsumerGroupSession
}

// member is what KIP-447 calls the group's metadata.
type member struct {
	id         string
	generation int32
}

func (a *Adapter) subscribe(call Call) Answer {
	if a.reader != nil {
		return unsupported("this adapter subscribes once")
	}
	config, err := consuming(a.settings, a.security)
	if err != nil {
		return said(err)
	}
	reader := &Reader{records: make(chan *sarama.ConsumerMessage), failures: make(chan error, 16)}
	reader.context, reader.stop = context.WithCancel(context.Background())
	brokers := strings.Split(a.settings.Bootstrap, ",")
	err = make(Turn, 1).within(a.settings.Block.Duration(), func(context.Context) error {
		if len(call.Topics) > 0 && a.settings.Group != "" {
			return reader.join(brokers, a.settings.Group, call.Topics, config)
		}
		return reader.read(brokers, call, config)
	})
	if err != nil {
		reader.stop()
		return said(err)
	}
	a.reader = reader
	return Answer{}
}

// join consumes again and again, because a rebalance ends Consume.
func (r *Reader) join(brokers []string, group string, topics []string, config *sarama.Config) error {
	client, err := sarama.NewConsumerGroup(brokers, group, config)
	if err != nil {
		return err
	}
	r.group, r.closing = group, client.Close
	go r.fail(client.Errors())
	go func() {
		for r.context.Err() == nil {
			if err := client.Consume(r.context, topics, r); err != nil && !errors.Is(err, sarama.ErrClosedConsumerGroup) {
				select {
				case r.failures <- err: // not tried again before poll tells it
				case <-r.context.Done():
				}
			}
		}
	}()
	return nil
}

func (r *Reader) read(brokers []string, call Call, config *sarama.Config) error {
	client, err := sarama.NewConsumer(brokers, config)
	if err != nil {
		return err
	}
	r.closing = func() error { return nil } // there is no group to leave
	places := call.Partitions
	for _, topic := range call.Topics {
		partitions, err := client.Partitions(topic)
		if err != nil {
			return err
		}
		for _, partition := range partitions {
			places = append(places, Place{Topic: topic, Partition: partition})
		}
	}
	for _, each := range places {
		partition, err := client.ConsumePartition(each.Topic, each.Partition, sarama.OffsetOldest)
		if err != nil {
			return err
		}
		go r.pass(r.context, partition.Messages())
		go func() {
			for err := range partition.Errors() {
				r.keep(err)
			}
		}()
	}
	return nil
}

func (r *Reader) pass(ctx context.Context, messages <-chan *sarama.ConsumerMessage) {
	for {
		select {
		case message, more := <-messages:
			if !more {
				return
			}
			select {
			case r.records <- message:
			case <-ctx.Done():
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

func (r *Reader) fail(errors <-chan error) {
	for err := range errors {
		r.keep(err)
	}
}

// keep lets go of an error when nobody has asked for those before it.
func (r *Reader) keep(err error) {
	select {
	case r.failures <- err:
	default:
	}
}

// Setup, Cleanup and ConsumeClaim make it the library's ConsumerGroupHandler.
func (r *Reader) Setup(session sarama.ConsumerGroupSession) error {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.session = session
	return nil
}

func (r *Reader) Cleanup(sarama.ConsumerGroupSession) error { return nil }

func (r *Reader) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	r.pass(session.Context(), claim.Messages())
	return nil
}

// memberOf is who we are in that group; nil where we never joined it.
func (r *Reader) memberOf(group string) *member {
	if r == nil || r.group != group {
		return nil
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.session == nil {
		return nil
	}
	return &member{id: r.session.MemberID(), generation: r.session.GenerationID()}
}

func (r *Reader) close() error {
	r.stop()
	return r.closing()
}

// poll has no positions: sarama keeps control records and its own position to itself.
func (a *Adapter) poll(call Call) Answer {
	if a.reader == nil {
		return unsupported("subscribe comes first")
	}
	over := time.After(call.Within.Duration())
	var answer Answer
	for len(answer.Records) < mostPolled {
		select {
		case message := <-a.reader.records:
			place := Place{Topic: message.Topic, Partition: message.Partition, Offset: message.Offset}
			answer.Records = append(answer.Records, Record{Place: place, Value: string(message.Value)})
			over = time.After(quiet)
			continue
		case err := <-a.reader.failures:
			failed := said(err)
			answer.Outcome, answer.Error = refused, failed.Error
		case <-over:
		}
		break
	}
	return answer
}
