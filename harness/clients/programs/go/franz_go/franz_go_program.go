// An adapter of franz-go.
package main

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	module     = "github.com/twmb/franz-go"
	mostPolled = 500
	closeLimit = 2 * time.Second
)

// errNotCommitted is for what GroupTransactSession.End reports by its first result alone.
var errNotCommitted = errors.New("GroupTransactSession.End aborted the transaction instead of committing it")

// lacks: what was sent in a transaction is waited for without end (RecordDeliveryTimeout, AbortBufferedRecords; the option
// AllowIdempotentProduceCancellation is refused with a transactional id), and offsets are a GroupTransactSession's.
var lacks = []string{"giving-up", "foreign-offsets"}

var named = map[string]error{
	"ErrRecordTimeout": kgo.ErrRecordTimeout,
	"ErrRecordRetries": kgo.ErrRecordRetries,
	"ErrMaxBuffered":   kgo.ErrMaxBuffered,
	"ErrAborting":      kgo.ErrAborting,
	"ErrClientClosed":  kgo.ErrClientClosed,
	"NotCommitted":     errNotCommitted,
	"DeadlineExceeded": context.DeadlineExceeded,
	"EOF":              io.EOF,
}

// Adapter has one client for all, but where a consumer has no group, or no transactions go with it.
//
// In franz-go offsets get into a transaction by GroupTransactSession alone, whose one client consumes and produces. So
// a transactional producer with a group is such a session from the beginning, and joins its group with subscribe.
type Adapter struct {
	settings      Settings
	security      Security
	results       Results
	turn          Turn
	producer      *kgo.Client
	session       *kgo.GroupTransactSession
	consumer      *kgo.Client
	begun         bool
	offsets       []Place
	positionsLock sync.Mutex
	positions     map[string]map[int32]int64
}

func main() {
	a := &Adapter{turn: make(Turn, 1), positions: map[string]map[int32]int64{}}
	serve(a, a.results.take)
}

func (a *Adapter) open(call Call) Answer {
	security, err := readSecurity(call.PropertiesFile)
	if err != nil {
		return unsupported("properties_file: " + err.Error())
	}
	a.settings, a.security = call.Settings, security
	return Answer{Library: "franz-go", Version: versionOf(module), Lacks: lacks}
}

func (a *Adapter) init(Call) Answer {
	return a.produced(func(ctx context.Context) error {
		_, _, err := a.producer.ProducerID(ctx)
		return err
	})
}

func (a *Adapter) begin(Call) Answer {
	answer := a.produced(func(context.Context) error {
		err := a.producer.BeginTransaction()
		if errors.Unwrap(err) != nil {
			return &fatalError{err}
		}
		return err
	})
	if answer.Error == nil {
		a.begun, a.offsets = true, nil
	}
	return answer
}

// fatalError is an error of BeginTransaction that wraps the producer id's: its documentation calls that state fatal.
type fatalError struct{ error }

func (e *fatalError) Unwrap() error { return errors.Unwrap(e.error) }

func (a *Adapter) produce(call Call) Answer {
	batch := a.results.expect(call)
	answer := a.produced(func(context.Context) error {
		for number, value := range call.Values {
			record := &kgo.Record{Topic: call.Topic, Partition: call.Partition, Value: []byte(value)}
			a.producer.Produce(context.Background(), record, func(record *kgo.Record, err error) {
				outcome, failure := told(err)
				batch.arrive(number, record.Offset, outcome, failure)
			})
		}
		return nil
	})
	if answer.Error != nil || !call.Wait {
		return answer
	}
	ctx, cancel := context.WithTimeout(context.Background(), a.settings.DeliveryTimeout.Duration()+slack)
	defer cancel()
	return batch.answer(ctx, said)
}

func (a *Adapter) flush(Call) Answer {
	return a.produced(func(ctx context.Context) error { return a.producer.Flush(ctx) })
}

func (a *Adapter) sendOffsets(call Call) Answer {
	if a.session == nil || a.consumer != a.session.Client() || call.Group != a.settings.Group {
		return unsupported("franz-go commits offsets in a transaction for the group that its own session consumes: " +
			"a group in open, and subscribe by topics come first")
	}
	a.offsets = append(a.offsets, call.Offsets...) // the session sends them when the transaction ends
	return Answer{}
}

func (a *Adapter) commit(Call) Answer {
	if !a.begun {
		return unsupported("franz-go takes a commit for done where there is no transaction: begin comes first")
	}
	return a.end(kgo.TryCommit)
}

func (a *Adapter) abort(Call) Answer { return a.end(kgo.TryAbort) }

func (a *Adapter) end(try kgo.TransactionEndTry) Answer {
	answer := a.produced(func(ctx context.Context) error { return a.ended(ctx, try) })
	if answer.Error == nil || answer.Error.Type == "NotCommitted" {
		a.begun = false
	}
	return answer
}

// ended gives EndTransaction and End no context that ends: their documentation asks for that.
func (a *Adapter) ended(ctx context.Context, try kgo.TransactionEndTry) error {
	prepare := a.producer.Flush
	if try == kgo.TryAbort {
		prepare = a.producer.AbortBufferedRecords
	}
	if err := prepare(ctx); err != nil {
		return err
	}
	if a.session == nil || a.consumer != a.session.Client() {
		return a.producer.EndTransaction(context.Background(), try)
	}
	committed, err := a.session.End(kgo.PreTxnCommitFnContext(context.Background(), only(a.offsets)), try)
	if !committed {
		a.forgetPositions() // the session has gone back to the committed offsets
	}
	if err == nil && try == kgo.TryCommit && !committed {
		return errNotCommitted
	}
	return err
}

// only replaces the offsets of all that was polled, which a session commits, by those that were given.
func only(offsets []Place) func(*kmsg.TxnOffsetCommitRequest) error {
	return func(request *kmsg.TxnOffsetCommitRequest) error {
		polled := request.Topics
		request.Topics = nil
		for _, each := range offsets {
			topic := kmsg.NewTxnOffsetCommitRequestTopic()
			for _, known := range polled {
				if known.Topic == each.Topic {
					topic = known // with its id, where the library knows it
				}
			}
			partition := kmsg.NewTxnOffsetCommitRequestTopicPartition()
			partition.Partition, partition.Offset = each.Partition, each.Offset
			topic.Topic = each.Topic
			topic.Partitions = []kmsg.TxnOffsetCommitRequestTopicPartition{partition}
			request.Topics = append(request.Topics, topic)
		}
		return nil
	}
}

func (a *Adapter) close(Call) Answer {
	for _, client := range []*kgo.Client{a.producer, a.consumer} {
		if client != nil {
			_ = make(Turn, 1).within(closeLimit, func(context.Context) error { // leaving a group waits for its coordinator
				client.CloseAllowingRebalance()
				return nil
			})
		}
	}
	return Answer{}
}

// produced makes the producer where there is none, and calls it.
func (a *Adapter) produced(run func(context.Context) error) Answer {
	if err := a.openProducer(); err != nil {
		return said(err)
	}
	if err := a.turn.within(a.settings.Block.Duration(), run); err != nil {
		return said(err)
	}
	return Answer{}
}

func told(err error) (string, *Failure) {
	if err == nil {
		return done, nil
	}
	outcome := refused
	if mayHaveHappened(err) {
		outcome = unsure
	}
	failure := failureOf(err)
	return outcome, &failure
}

func failureOf(err error) Failure {
	failure := Failure{Type: nameOf(err, named), Message: err.Error(), Class: classOf(err), Causes: causesOf(err, failureOf)}
	var kafka *kerr.Error
	if errors.As(err, &kafka) {
		failure.Type, failure.Code = kafka.Message, &kafka.Code
	}
	return failure
}

// classOf knows what kerr.IsRetriable says, what BeginTransaction calls fatal, and what the documentations of
// EndTransaction and End say to go on with as aborted (by name: older versions lack the variables). There is no more.
func classOf(err error) *string {
	class := ""
	var kafka *kerr.Error
	switch {
	case errors.As(err, new(*fatalError)):
		class = "fatal"
	case errors.Is(err, errNotCommitted):
		class = "abortable"
	case errors.As(err, &kafka) && slices.Contains([]string{"OPERATION_NOT_ATTEMPTED", "TRANSACTION_ABORTABLE"}, kafka.Message):
		class = "abortable"
	case kerr.IsRetriable(err):
		class = "retriable"
	default:
		return nil
	}
	return &class
}

// mayHaveHappened is true of what the library gave up: it tries again what is retriable or broke a connection. The
// documentation of EndTransaction counts UNKNOWN_SERVER_ERROR as unconfirmed, too.
func mayHaveHappened(err error) bool {
	var broken net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, kgo.ErrRecordTimeout) ||
		errors.Is(err, kgo.ErrRecordRetries) || errors.Is(err, kerr.UnknownServerError) || kerr.IsRetriable(err) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || errors.As(err, &broken)
}
