/*
 * Times of Metal command buffers for a caller that speaks C: Brick Profiler's Java part, or an application's native code.
 *
 * A stream follows one command queue. The application passes command buffers to it before committing them (watch). The
 * stream numbers them, records when the device began and ended each, and keeps the records until the caller drains
 * them. It never calls the application back.
 *
 * Rules for every function:
 *  - Threads: any thread, several at once. No lock is held across a call into Metal. No function waits.
 *  - Errors: a negative result is one of the codes below, and brick_metal_failure() returns the message. No exception
 *    leaves a function. A failed call leaves the stream unchanged, unless the function's comment states otherwise.
 *  - Ownership: the caller keeps its references to Metal objects. A stream retains the objects that it needs longer,
 *    and releases them when it is closed and the last watched command buffer has ended. Texts are UTF-8 and are copied;
 *    a text that is too long is cut after a whole character.
 *  - Time: ns of the host's clock that Metal uses, CLOCK_UPTIME_RAW. Names with ticks are of the device's counter.
 *  - A stream is a number that is never reused: a number that is not an open stream gives BRICK_METAL_CLOSED.
 *
 * Build: see the Makefile. Objective-C without ARC; macOS 11 or later.
 */
#ifndef BRICK_METAL_H
#define BRICK_METAL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* Changes whenever a function, a structure or a meaning changes. */
#define BRICK_METAL_VERSION 3

#define BRICK_METAL_OK 0
#define BRICK_METAL_NO_DEVICE (-1)    /* the system has no Metal device */
#define BRICK_METAL_REFUSED (-2)      /* Metal answered with nil or an error */
#define BRICK_METAL_EXCEPTION (-3)    /* Metal raised an exception, which ended here */
#define BRICK_METAL_BAD_ARGUMENT (-4) /* an argument is null or out of its range */
#define BRICK_METAL_CLOSED (-5)       /* there is no such stream, or it is closed */
#define BRICK_METAL_TOO_LATE (-6)     /* the command buffer was committed, ended, or is not watched (any more) */
#define BRICK_METAL_UNSUPPORTED (-7)  /* the device cannot sample its counters there */
#define BRICK_METAL_FULL (-8)         /* no room for another stream or dispatch */
#define BRICK_METAL_PENDING (-9)      /* a command buffer has not ended */

/* Instead of a time that the device did not report. */
#define BRICK_METAL_NO_TIME (-1)

/* How a watched command buffer ended. */
#define BRICK_METAL_COMPLETED 1
#define BRICK_METAL_FAILED 2    /* with an error of Metal, its work not done; or Metal did not report completion */
#define BRICK_METAL_FORGOTTEN 3 /* the application gave it up, see brick_metal_forget */

/* Where the device's counters are sampled. */
#define BRICK_METAL_STAGE_BOUNDARY 0    /* where a pass begins and ends: Apple silicon */
#define BRICK_METAL_DISPATCH_BOUNDARY 1 /* between dispatches of one encoder */

/* What brick_metal_lost counts. */
#define BRICK_METAL_LOST_BUFFERS 0    /* watched command buffers that were evicted from the ring before a drain */
#define BRICK_METAL_LOST_DISPATCHES 1 /* dispatches for which there was no room or no valid time */

#define BRICK_METAL_LABEL_BYTES 64

/* The most dispatches that can wait to be drained: Metal's sample buffers hold 32 KiB. */
#define BRICK_METAL_MAX_DISPATCHES 2048

typedef int64_t brick_metal_stream;

/* One watched command buffer that has ended. If one time of a pair is unknown, both are BRICK_METAL_NO_TIME. */
typedef struct {
  int64_t sequence;        /* its number in its stream, from 1 */
  int64_t gpu_start_ns;    /* when the device began it; unknown if more than 1 ms outside of its life on the host */
  int64_t gpu_end_ns;      /* when the device ended it; gpu_start_ns or later */
  int64_t kernel_start_ns; /* when the host began to schedule it */
  int64_t kernel_end_ns;   /* when the host had scheduled it */
  int64_t error_code;      /* an MTLCommandBufferError; 0 if there was none */
  int32_t status;          /* BRICK_METAL_COMPLETED, ..._FAILED or ..._FORGOTTEN */
  int32_t reserved;        /* 0 */
  char label[BRICK_METAL_LABEL_BYTES]; /* never empty */
} brick_metal_buffer;

/* One sampled pass or dispatch of a command buffer that has ended. */
typedef struct {
  int64_t sequence;    /* the number of its command buffer */
  int64_t start_ticks; /* the device's counter */
  int64_t end_ticks;   /* start_ticks or later */
  int32_t index;       /* its place among the sampled ones of its command buffer, from 0 */
  int32_t reserved;    /* 0 */
  char label[BRICK_METAL_LABEL_BYTES];     /* of its command buffer */
  char operation[BRICK_METAL_LABEL_BYTES]; /* never empty */
} brick_metal_dispatch;

/* The position of a mark in its stream. */
typedef struct {
  int64_t sequence; /* the highest number so far; 0 if nothing was watched yet */
  /*
   * The time at which the mark was set. BRICK_METAL_NO_TIME if a watched command buffer is not committed yet: the mark
   * is then inside of that command buffer, and the time at which the device passes the mark is unknown.
   */
  int64_t set_ns;
} brick_metal_position;

/* One moment on two clocks: the device's counter had this value at some time in the interval. */
typedef struct {
  int64_t host_before_ns;
  int64_t host_after_ns;
  int64_t device_ticks;
} brick_metal_moment;

/* Returns BRICK_METAL_VERSION of the library, for a caller to compare with that of its header. */
int32_t brick_metal_version(void);

/* Returns the message of this thread's latest failed call. Never null; valid until the thread's next call. */
const char *brick_metal_failure(void);

/* Writes the name of the default device. Returns BRICK_METAL_OK, or a code such as BRICK_METAL_NO_DEVICE. */
int32_t brick_metal_probe(char *name, int32_t name_bytes);

/*
 * Opens a stream. queue: the application's id<MTLCommandQueue>, retained; null for a queue of its own on the default
 * device. capacity: the number of command buffers that it keeps at once, from watch to drain; a power of two from 2 to
 * 65,536.
 * Returns the stream, above 0, or a code.
 */
brick_metal_stream brick_metal_open(void *queue, int32_t capacity);

/* Writes the label of the queue (empty if it has none) and the name of its device. */
int32_t brick_metal_names(brick_metal_stream stream, char *queue, int32_t queue_bytes, char *device, int32_t device_bytes);

/* Returns the id<MTLCommandQueue> of a stream, valid while the stream is open; null if there is no such stream. */
void *brick_metal_queue(brick_metal_stream stream);

/*
 * Watches an id<MTLCommandBuffer> of the stream's queue. Call it as soon as the command buffer is made if possible, and
 * at the latest before it is committed. label: its purpose; if null or empty, the command buffer's own label is used.
 *
 * Returns its number, 1 for the first of the stream, or a code. If the ring is full, the oldest number that was not
 * drained is evicted and counted as lost: its times will not be known.
 */
int64_t brick_metal_watch(brick_metal_stream stream, void *command_buffer, const char *label);

/*
 * Gives up a watched command buffer that will never be committed: it ends as BRICK_METAL_FORGOTTEN. Until then, the
 * stream keeps it alive, and marks are inside of it. Returns BRICK_METAL_TOO_LATE if it was committed or is not
 * watched.
 */
int32_t brick_metal_forget(brick_metal_stream stream, int64_t sequence);

/*
 * Marks the current end of the queue. The device reaches the mark once every command buffer watched so far has ended,
 * and not before set_ns.
 */
int32_t brick_metal_mark(brick_metal_stream stream, brick_metal_position *mark);

/*
 * Returns BRICK_METAL_OK if every committed command buffer up to a number has ended and can be drained, and
 * BRICK_METAL_PENDING while one has not ended or its completed handler has not run. To wait, call it again:
 * waitUntilCompleted has no timeout.
 */
int32_t brick_metal_poll_for(brick_metal_stream stream, int64_t sequence);

/*
 * Copies the command buffers that have ended, in the order of their numbers, up to the first one that has not ended. A
 * missing number was lost. Returns how many were copied, 0 to count, or a code. Each is returned once, to one thread.
 */
int32_t brick_metal_drain(brick_metal_stream stream, brick_metal_buffer *buffers, int32_t count);

/* Returns how many were lost since the stream was opened; what: a BRICK_METAL_LOST_... constant. Or a code. */
int64_t brick_metal_lost(brick_metal_stream stream, int32_t what);

/*
 * Closes a stream and releases its queue. Command buffers that have not ended are forgotten; they run on undisturbed. A
 * second call, or a number that is no stream, has no effect.
 */
void brick_metal_close(brick_metal_stream stream);

/*
 * Begins to sample the device's counters. dispatches: the most that are sampled until a drain, 1 to
 * BRICK_METAL_MAX_DISPATCHES. Returns BRICK_METAL_UNSUPPORTED if the device does not sample at that point or has no
 * timestamps; the times of command buffers remain. A second call for a stream returns BRICK_METAL_BAD_ARGUMENT.
 */
int32_t brick_metal_sample_counters(brick_metal_stream stream, int32_t point, int32_t dispatches);

/*
 * At stage boundaries: samples a pass at its begin and its end. pass: the MTLComputePassDescriptor with which the
 * encoder will be made; its first sample buffer attachment is set. sequence: the watched command buffer. Returns
 * BRICK_METAL_UNSUPPORTED unless stage boundaries are sampled, and BRICK_METAL_FULL if there is no room until a drain.
 */
int32_t brick_metal_sample_pass(brick_metal_stream stream, int64_t sequence, void *pass, const char *operation);

/*
 * At dispatch boundaries: samples in an id<MTLComputeCommandEncoder>, with a barrier, before and after the commands
 * encoded in between. The barrier keeps dispatches from overlapping, so the sum of their times is an upper bound of the
 * time without barriers. begin returns a ticket for end, 0 or above, or a code as brick_metal_sample_pass does.
 */
int64_t brick_metal_begin_dispatch(brick_metal_stream stream, int64_t sequence, void *encoder, const char *operation);
int32_t brick_metal_end_dispatch(brick_metal_stream stream, int64_t ticket, void *encoder);

/* Copies the sampled dispatches of completed command buffers. Returns how many were copied, 0 to count, or a code. */
int32_t brick_metal_drain_dispatches(brick_metal_stream stream, brick_metal_dispatch *dispatches, int32_t count);

/* Reads both clocks. Two such moments, from before and after the work, convert ticks to host time. */
int32_t brick_metal_sample_clocks(brick_metal_stream stream, brick_metal_moment *moment);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
