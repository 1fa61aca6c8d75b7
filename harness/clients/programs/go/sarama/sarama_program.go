// An adapter of sarama.
package main

import (
	"context"
	"errors"
	"io"
	"net"
	"reflect"
	"strings"
	"time"

	"github.com/IBM/sarama"
)

const (
	module     = "github.com/IBM/sarama"
	closeLimit = 2 * time.Second
)

var named = map[string]error{
	"ErrOutOfBrokers":              sarama.ErrOutOfBrokers,
	"ErrClosedClient":              sarama.ErrClosedClient,
	"ErrNotConnected":              sarama.ErrNotConnected,
	"ErrShuttingDown":              sarama.ErrShuttingDown,
	"ErrInvalidPartition":          sarama.ErrInvalidPartition,
	"ErrAddPartitionsToTxn":        sarama.ErrAddPartitionsToTxn,
	"ErrTxnOffsetCommit":           sarama.ErrTxnOffsetCommit,
	"ErrTransactionNotReady":       sarama.ErrTransactionNotReady,
	"ErrNonTransactedProducer":     sarama.ErrNonTransactedProducer,
	"ErrTransitionNotAllowed":      sarama.ErrTransitionNotAllowed,
	"ErrTxnUnableToParseResponse":  sarama.ErrTxnUnableToParseResponse,
	"ErrConsumerOffsetNotAdvanced": sarama.ErrConsumerOffsetNotAdvanced,
	"DeadlineExceeded":             context.DeadlineExceeded,
	"EOF":                          io.EOF,
}

// Adapter has a producer and a reader, each with a client of its own. The producer is touched by who has the turn.
type Adapter struct {
	settings Settings
	security Security
	results  Results
	turn     Turn
	producer sarama.AsyncProducer
	reader   *Reader
}

// ticket goes with a message as its metadata: which record of which call it is.
type ticket struct {
	batch  *Batch
	number int
}

// flagged is an error with the status that the producer had then, which is how sarama classifies.
type flagged struct {
	error
	status sarama.ProducerTxnStatusFlag
}

func (f *flagged) Unwrap() error { return f.error }

func main() {
	a := &Adapter{turn: make(Turn, 1)}
	serve(a, a.results.take)
}

func (a *Adapter) open(call Call) Answer {
	security, err := readSecurity(call.PropertiesFile)
	if err != nil {
		return unsupported("properties_file: " + err.Error())
	}
	a.settings, a.security = call.Settings, security
	return Answer{Library: "sarama", Version: versionOf(module)}
}

// init makes the producer: sarama's constructor gets the producer id.
func (a *Adapter) init(Call) Answer {
	return a.produced(func(context.Context) error { return nil })
}

func (a *Adapter) begin(Call) Answer {
	return a.produced(func(context.Context) error { return a.producer.BeginTxn() })
}

func (a *Adapter) produce(call Call) Answer {
	batch := a.results.expect(call)
	taken := 0
	answer := a.produced(func(ctx context.Context) error {
		for ; taken < len(call.Values); taken++ {
			message := &sarama.ProducerMessage{
				Topic: call.Topic, Partition: call.Partition, Metadata: ticket{batch, taken},
				Value: sarama.StringEncoder(call.Values[taken]),
			}
			select {
			case a.producer.Input() <- message:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	if answer.Error != nil {
		for ; taken < len(call.Values); taken++ { // what the library has not taken gets no result from it
			batch.arrive(taken, 0, refused, answer.Error)
		}
		return answer
	}
	if !call.Wait {
		return answer
	}
	ctx, cancel := context.WithTimeout(context.Background(), a.settings.DeliveryTimeout.Duration()+slack)
	defer cancel()
	return batch.answer(ctx, said)
}

// flush waits for results; sarama sends by itself, and has no call for it.
func (a *Adapter) flush(Call) Answer {
	return a.produced(a.results.all)
}

func (a *Adapter) sendOffsets(call Call) Answer {
	offsets := map[string][]*sarama.PartitionOffsetMetadata{}
	for _, each := range call.Offsets {
		place := &sarama.PartitionOffsetMetadata{Partition: each.Partition, Offset: each.Offset, LeaderEpoch: -1}
		offsets[each.Topic] = append(offsets[each.Topic], place)
	}
	member := a.reader.memberOf(call.Group)
	return a.produced(func(context.Context) error { return addOffsets(a.producer, offsets, call.Group, member) })
}

// addOffsets gives the member and its generation to the versions that take them (KIP-447), by reflection: older ones,
// which know the group's name alone, have no type for them.
func addOffsets(
	producer sarama.AsyncProducer, offsets map[string][]*sarama.PartitionOffsetMetadata, group string, member *member,
) error {
	method := reflect.ValueOf(producer).MethodByName("AddOffsetsToTxnWithGroupMetadata")
	if member == nil || !method.IsValid() {
		return producer.AddOffsetsToTxn(offsets, group)
	}
	metadata := reflect.New(method.Type().In(1).Elem())
	metadata.Elem().FieldByName("GroupID").SetString(group)
	metadata.Elem().FieldByName("MemberID").SetString(member.id)
	metadata.Elem().FieldByName("GenerationID").SetInt(int64(member.generation))
	err, _ := method.Call([]reflect.Value{reflect.ValueOf(offsets), metadata})[0].Interface().(error)
	return err
}

func (a *Adapter) commit(Call) Answer {
	return a.ended(func() error { return a.producer.CommitTxn() })
}

func (a *Adapter) abort(Call) Answer {
	return a.ended(func() error { return a.producer.AbortTxn() })
}

// ended waits for the results, too, which the library has handed over when it returns.
func (a *Adapter) ended(end func() error) Answer {
	return a.produced(func(ctx context.Context) error {
		if err := end(); err != nil {
			_ = a.results.all(ctx)
			return err
		}
		return a.results.all(ctx)
	})
}

func (a *Adapter) close(Call) Answer {
	if a.reader != nil {
		_ = make(Turn, 1).within(closeLimit, func(context.Context) error { return a.reader.close() })
	}
	_ = a.turn.within(slack, func(context.Context) error {
		if a.producer != nil {
			a.producer.AsyncClose() // its Close waits until all is sent
		}
		return nil
	})
	return Answer{}
}

// produced makes the producer where there is none, and calls it.
func (a *Adapter) produced(run func(context.Context) error) Answer {
	err := a.turn.within(a.settings.Block.Duration(), func(ctx context.Context) error {
		if err := a.openProducer(); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil { // it was answered already
			return err
		}
		if err := run(ctx); err != nil {
			return &flagged{err, a.producer.TxnStatus()}
		}
		return nil
	})
	if err != nil {
		return said(err)
	}
	return Answer{}
}

func (a *Adapter) openProducer() error {
	if a.producer != nil {
		return nil
	}
	config, err := producing(a.settings, a.security)
	if err != nil {
		return err
	}
	producer, err := sarama.NewAsyncProducer(strings.Split(a.settings.Bootstrap, ","), config)
	if err != nil {
		return err
	}
	a.producer = producer
	go func() {
		for message := range producer.Successes() {
			sent := message.Metadata.(ticket)
			sent.batch.arrive(sent.number, message.Offset, done, nil)
		}
	}()
	go func() {
		for failed := range producer.Errors() {
			sent := failed.Msg.Metadata.(ticket)
			outcome, failure := told(&flagged{failed.Err, producer.TxnStatus()})
			sent.batch.arrive(sent.number, 0, outcome, failure)
		}
	}()
	return nil
}

func told(err error) (string, *Failure) {
	outcome := refused
	if mayHaveHappened(err) {
		outcome = unsure
	}
	failure := failureOf(err)
	failure.Class = classOf(err)
	return outcome, &failure
}

func failureOf(err error) Failure {
	failure := Failure{Type: nameOf(err, named), Message: err.Error()}
	var kafka sarama.KError
	if errors.As(err, &kafka) {
		code := int16(kafka)
		failure.Type, failure.Code = "KError", &code
	}
	return failure
}

// classOf knows the two flags of a producer that the library documents: to abort, or to close and make another.
func classOf(err error) *string {
	var with *flagged
	class := ""
	switch {
	case !errors.As(err, &with):
		return nil
	case with.status&sarama.ProducerTxnFlagFatalError != 0:
		class = "fatal"
	case with.status&sarama.ProducerTxnFlagAbortableError != 0:
		class = "abortable"
	default:
		return nil
	}
	return &class
}

// mayHaveHappened is true of what got no answer, of an end of a transaction that the producer is still in, and of the
// two errors whose texts say that records may be written.
func mayHaveHappened(err error) bool {
	var with *flagged
	ending := errors.As(err, &with) && with.status&sarama.ProducerTxnFlagEndTransaction != 0
	var broken net.Error
	return ending || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, sarama.ErrOutOfBrokers) ||
		errors.Is(err, sarama.ErrNotConnected) || errors.Is(err, io.EOF) || errors.As(err, &broken) ||
		errors.Is(err, sarama.ErrRequestTimedOut) || errors.Is(err, sarama.ErrNotEnoughReplicasAfterAppend)
}
