/*
 * A device that is not there, and the application that uses it: what tests do to the simulation. Work takes exactly the
 * time that it is given, on a clock that only moves when it is told to. One device, any number of queues; the device
 * does one command buffer after the other, in the order in which they were committed. Any thread.
 */
#ifndef FAKE_METAL_H
#define FAKE_METAL_H

#include <stdint.h>

#pragma GCC visibility push(default)

/* What a call of Metal does instead of its work. */
#define FAKE_NIL 1   /* answers with nil, 0 or NO */
#define FAKE_THROW 2 /* raises an NSException */
#define FAKE_THROW_OBJECT 3 /* raises an object that is no NSException */

/*
 * To be called first: a device with both kinds of counters, its clock at 1 s, no faults, and nothing committed. Until
 * then there is no device.
 */
void fake_reset(void);
void fake_device_present(int32_t present);
/* Whether counters are sampled at an MTLCounterSamplingPoint. */
void fake_supports(int32_t point, int32_t supported);
/* The nth call of a method from now on, 1 for the next, fails; 0: every one. One fault at a time. */
void fake_fail(const char *method, int32_t nth, int32_t how);
/* How often the fault has struck. */
int32_t fake_faults(void);

/* The host's clock, and how far sampling both clocks moves it: half before the device's is read, half after. */
int64_t fake_now_ns(void);
void fake_advance(int64_t ns);
/* From now on, and until a reset, the host's clock is the system's: moving it on, and doing work, lasts as long. */
void fake_run_clock(void);
void fake_sampling_takes(int64_t ns);
/* The device's counter: at host time 0, and how many of its ticks pass in so many ns. */
void fake_ticks(int64_t origin, int64_t ticks, int64_t ns);

/* Whether the device does nothing more where somebody waits for it; until a reset. */
void fake_hang(int32_t hangs);

/*
 * How often somebody waited for a command buffer: asked for its status again and again after it was committed. The device
 * does command buffers then, until that one has ended. A fault of "waiting" lets such a question raise, or do nothing.
 */
int64_t fake_waits(void);

/* How many objects of the simulation are alive; 0 when everything was released. */
int32_t fake_live(void);

/* What an application does. Objects come retained; fake_release gives them back. */
void *fake_queue_new(const char *label);
void *fake_buffer_new(void *queue, const char *label);
void *fake_pass_new(void);
void fake_release(void *object);
/* Work of a command buffer outside of encoders. */
void fake_work(void *buffer, int64_t ns);
/* An encoder; pass may be null. */
void *fake_encoder_new(void *buffer, void *pass);
void fake_encoder_work(void *encoder, int64_t ns);
void fake_encoder_end(void *encoder);
/* Lets a command buffer end with an error of this code. */
void fake_break_buffer(void *buffer, int32_t error_code);
void fake_commit(void *buffer);

/* Does committed command buffers, and calls their handlers on this thread; -1: all. Returns how many. */
int32_t fake_run(int32_t most);
/* The same on a thread that is made for it. */
int32_t fake_run_elsewhere(int32_t most);

/* Does so many, and turns the host's clock back before their handlers are called. */
int32_t fake_turn_back(int32_t most, int64_t ns);

#pragma GCC visibility pop

#endif
