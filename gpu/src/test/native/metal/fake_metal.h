/*
 * A simulated device, and an application that uses it: the functions by which tests control the simulation. Work takes
 * exactly the specified time, on a clock that advances only when it is told to. There is one device with any number of
 * queues; it executes command buffers one by one, in the order of their commits. Any thread.
 */
#ifndef FAKE_METAL_H
#define FAKE_METAL_H

#include <stdint.h>

#pragma GCC visibility push(default)

/* The effect of a fault on a call of Metal, instead of its work. */
#define FAKE_NIL 1   /* returns nil, 0 or NO */
#define FAKE_THROW 2 /* raises an NSException */
#define FAKE_THROW_OBJECT 3 /* raises an object other than an NSException */

/*
 * Must be called first. Creates a device with both kinds of counters, its clock at 1 s, no faults, and nothing
 * committed. There is no device before.
 */
void fake_reset(void);
void fake_device_present(int32_t present);
/* Sets whether the device samples counters at an MTLCounterSamplingPoint. */
void fake_supports(int32_t point, int32_t supported);
/* Makes the nth call of a method from now on fail, 1 for the next; 0: every call. One fault at a time. */
void fake_fail(const char *method, int32_t nth, int32_t how);
/* Returns the number of calls that the fault has made fail. */
int32_t fake_faults(void);

/* The host's clock. Sampling both clocks advances it, half before the device's clock is read and half after. */
int64_t fake_now_ns(void);
void fake_advance(int64_t ns);
/* Uses the system's clock as the host's until a reset: advancing it and executing work then take real time. */
void fake_run_clock(void);
void fake_sampling_takes(int64_t ns);
/* Sets the device's counter: its value at host time 0, and its rate, in ticks per a number of ns. */
void fake_ticks(int64_t origin, int64_t ticks, int64_t ns);

/* Sets whether the device makes no progress during waits, until a reset. */
void fake_hang(int32_t hangs);

/*
 * Returns the number of waits for command buffers: repeated queries of the status after the commit. During a wait the
 * device executes command buffers until this one has ended. A fault of "waiting" makes such a query raise or do
 * nothing.
 */
int64_t fake_waits(void);

/* Returns the number of live objects of the simulation; 0 when everything was released. */
int32_t fake_live(void);

/* The actions of an application. Objects are returned retained; fake_release releases them. */
void *fake_queue_new(const char *label);
void *fake_buffer_new(void *queue, const char *label);
void *fake_pass_new(void);
void fake_release(void *object);
/* Adds work to a command buffer outside of encoders. */
void fake_work(void *buffer, int64_t ns);
/* Creates an encoder; pass may be null. */
void *fake_encoder_new(void *buffer, void *pass);
void fake_encoder_work(void *encoder, int64_t ns);
void fake_encoder_end(void *encoder);
/* Makes a command buffer end with an error of this code. */
void fake_break_buffer(void *buffer, int32_t error_code);
void fake_commit(void *buffer);

/* Executes committed command buffers, -1: all, and calls their handlers on this thread. Returns their number. */
int32_t fake_run(int32_t most);
/* Does the same on a new thread. */
int32_t fake_run_elsewhere(int32_t most);

/* Executes as many, but turns the host's clock back before their handlers are called. */
int32_t fake_turn_back(int32_t most, int64_t ns);

#pragma GCC visibility pop

#endif
