// Reads calls from standard input and answers them, for adapters in Go; see PROTOCOL.md.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"time"
)

// Settings are the arguments of open. A text that is null is empty.
type Settings struct {
	Bootstrap          string
	ClientID           string `json:"client_id"`
	TransactionalID    string `json:"transactional_id"`
	Idempotent         bool
	TransactionTimeout Millis `json:"transaction_timeout_ms"`
	RequestTimeout     Millis `json:"request_timeout_ms"`
	DeliveryTimeout    Millis `json:"delivery_timeout_ms"`
	Block              Millis `json:"block_ms"`
	Linger             Millis `json:"linger_ms"`
	BatchBytes         int    `json:"batch_bytes"`
	InFlight           int    `json:"in_flight"`
	Compression        string
	Group              string
	Isolation          string
	SessionTimeout     Millis `json:"session_timeout_ms"`
	FetchBytes         int32  `json:"fetch_bytes"`
	PropertiesFile     string `json:"properties_file"`
}

// Call is one line of the input. Group is also the argument of send_offsets.
type Call struct {
	ID   int64
	Name string `json:"call"`
	Settings
	Topic      string
	Partition  int32
	Values     []string
	Wait       bool
	Offsets    []Place
	Topics     []string
	Partitions []Place
	Within     Millis `json:"within_ms"`
}

// Answer is one line of the output; an empty outcome is done.
type Answer struct {
	ID         int64      `json:"id"`
	Outcome    string     `json:"outcome"`
	Error      *Failure   `json:"error,omitempty"`
	Library    string     `json:"library,omitempty"`
	Version    string     `json:"version,omitempty"`
	Lacks      []string   `json:"lacks,omitempty"`
	Deliveries []Delivery `json:"deliveries,omitempty"`
	Records    []Record   `json:"records,omitempty"`
	Positions  []Place    `json:"positions,omitempty"`
}

// Failure is an error in the library's words; an empty class is null.
type Failure struct {
	Type    string    `json:"type"`
	Message string    `json:"message"`
	Code    *int16    `json:"code"`
	Class   *string   `json:"class"`
	Causes  []Failure `json:"causes,omitempty"`
}

type Place struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Offset    int64  `json:"offset"`
}

type Record struct {
	Place
	Value string `json:"value"`
}

// Millis is a duration that the protocol gives in milliseconds.
type Millis time.Duration

func (m *Millis) UnmarshalJSON(text []byte) error {
	var number int64
	err := json.Unmarshal(text, &number)
	*m = Millis(time.Duration(number) * time.Millisecond)
	return err
}

func (m Millis) Duration() time.Duration { return time.Duration(m) }

const (
	done    = "done"
	refused = "refused"
	unsure  = "unsure"
)

// Library is what an adapter does for each call.
type Library interface {
	open(Call) Answer
	init(Call) Answer
	begin(Call) Answer
	produce(Call) Answer
	flush(Call) Answer
	sendOffsets(Call) Answer
	commit(Call) Answer
	abort(Call) Answer
	subscribe(Call) Answer
	poll(Call) Answer
	close(Call) Answer
}

// serve answers calls until close or the end of the input.
func serve(l Library, deliveries func() []Delivery) {
	calls := map[string]func(Call) Answer{
		"open": l.open, "init": l.init, "begin": l.begin, "produce": l.produce, "flush": l.flush,
		"send_offsets": l.sendOffsets, "commit": l.commit, "abort": l.abort,
		"subscribe": l.subscribe, "poll": l.poll, "close": l.close,
	}
	input, output := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var call Call
		if err := input.Decode(&call); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			fmt.Fprintln(os.Stderr, "not a call:", err)
			os.Exit(1)
		}
		answer := unsupported(fmt.Sprintf("this adapter does not know the call %q", call.Name))
		if run, known := calls[call.Name]; known {
			answer = run(call)
		}
		if answer.Outcome == "" {
			answer.Outcome = done
		}
		answer.ID, answer.Deliveries = call.ID, deliveries()
		if err := output.Encode(answer); err != nil || call.Name == "close" {
			return
		}
	}
}

// unsupported answers a call that the library has nothing for.
func unsupported(message string) Answer {
	return Answer{Outcome: refused, Error: &Failure{Type: "unsupported", Message: message}}
}

// said answers a call that failed; told is each adapter's own.
func said(err error) Answer {
	outcome, failure := told(err)
	return Answer{Outcome: outcome, Error: failure}
}

// Turn admits one call of the library at a time. One that is not over when its time is goes on alone; what is called
// next waits for it, because the libraries allow no second call beside it.
type Turn chan struct{}

// slack is for a library to give up by itself before it is left alone.
const slack = time.Second

// within runs what may wait for a broker. The context ends with the limit.
func (t Turn) within(limit time.Duration, run func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	select {
	case t <- struct{}{}:
	case <-ctx.Done():
		cancel()
		return ctx.Err()
	}
	ended := make(chan error, 1)
	go func() {
		defer cancel()
		ended <- run(ctx)
		<-t
	}()
	select {
	case err := <-ended:
		return err
	case <-time.After(limit + slack):
		return context.DeadlineExceeded
	}
}

// nameOf finds the variable of a library that an error is, or wraps; else the Go type of what it wraps.
func nameOf(err error, known map[string]error) string {
	for name, each := range known {
		if errors.Is(err, each) {
			return name
		}
	}
	for errors.Unwrap(err) != nil {
		err = errors.Unwrap(err)
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", err), "*")
}

// causesOf are the errors that an error wraps, outermost first.
func causesOf(err error, told func(error) Failure) []Failure {
	var causes []Failure
	for err = errors.Unwrap(err); err != nil; err = errors.Unwrap(err) {
		causes = append(causes, told(err))
	}
	return causes
}

// versionOf is the version of a module that this program was built with.
func versionOf(module string) string {
	info, _ := debug.ReadBuildInfo()
	for _, each := range info.Deps {
		if each.Path == module {
			return strings.TrimPrefix(each.Version, "v")
		}
	}
	return "unknown"
}
