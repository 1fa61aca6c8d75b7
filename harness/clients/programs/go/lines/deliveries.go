package main

import (
	"context"
	"sync"
)

// Delivery is the result of one record.
type Delivery struct {
	Topic     string   `json:"topic"`
	Partition int32    `json:"partition"`
	Value     string   `json:"value"`
	Outcome   string   `json:"outcome"`
	Offset    *int64   `json:"offset"`
	Error     *Failure `json:"error,omitempty"`
}

// Results collects deliveries, which libraries report on threads of their own.
type Results struct {
	lock    sync.Mutex
	arrived []Delivery
	open    []*Batch
}

// Batch is the records of one call of produce.
type Batch struct {
	results  *Results
	left     int
	done     chan struct{}
	delivery []Delivery
}

// expect makes the batch of these records.
func (r *Results) expect(call Call) *Batch {
	batch := &Batch{results: r, left: len(call.Values), done: make(chan struct{})}
	for _, value := range call.Values {
		batch.delivery = append(batch.delivery, Delivery{Topic: call.Topic, Partition: call.Partition, Value: value})
	}
	if batch.left == 0 {
		close(batch.done)
		return batch
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	r.open = append(r.open, batch)
	return batch
}

// arrive keeps the result of the record with this number in its batch; failure is nil for success.
func (b *Batch) arrive(number int, offset int64, outcome string, failure *Failure) {
	b.results.lock.Lock()
	defer b.results.lock.Unlock()
	delivery := &b.delivery[number]
	delivery.Outcome, delivery.Error = outcome, failure
	if failure == nil {
		delivery.Offset = &offset
	}
	b.results.arrived = append(b.results.arrived, *delivery)
	if b.left--; b.left == 0 {
		close(b.done)
		b.results.forget(b)
	}
}

// answer waits for the batch; the answer is that of the first record that is not done.
func (b *Batch) answer(ctx context.Context, timedOut func(error) Answer) Answer {
	select {
	case <-b.done:
	case <-ctx.Done():
		return timedOut(ctx.Err())
	}
	for _, each := range b.delivery {
		if each.Outcome != done {
			return Answer{Outcome: each.Outcome, Error: each.Error}
		}
	}
	return Answer{}
}

// all waits until every record that was taken has its result.
func (r *Results) all(ctx context.Context) error {
	r.lock.Lock()
	open := append([]*Batch(nil), r.open...)
	r.lock.Unlock()
	for _, batch := range open {
		select {
		case <-batch.done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// take returns the deliveries that came since it was last called.
func (r *Results) take() []Delivery {
	r.lock.Lock()
	defer r.lock.Unlock()
	taken := r.arrived
	r.arrived = nil
	return taken
}

func (r *Results) forget(batch *Batch) {
	for number, each := range r.open {
		if each == batch {
			r.open = append(r.open[:number], r.open[number+1:]...)
			return
		}
	}
}
