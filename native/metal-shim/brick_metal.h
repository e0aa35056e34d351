/*
 * Times of Metal command buffers for a caller that speaks C: Brick Profiler's Java part, or an application's native code.
 *
 * A stream follows one command queue. The application shows it command buffers before it commits them (watch); the
 * stream numbers them, notes when the device began and ended each, and keeps that until somebody drains it. Nothing is
 * ever called back.
 *
 * Rules for every function:
 *  - Threads: any thread, several at once. No lock is held across a call into Metal. No function waits.
 *  - Errors: a negative result is one of the codes below, and brick_metal_failure() has the words. No exception leaves
 *    a function. What failed left the stream as it was, unless the function says otherwise.
 *  - Ownership: pointers to Metal objects stay the caller's; what a stream needs longer it retains itself, and lets go
 *    of it when it is closed and the last watched command buffer has ended. Texts are UTF-8, copied, and cut after a
 *    whole character where they are too long.
 *  - Time: ns of the host's clock that Metal uses, CLOCK_UPTIME_RAW, unless a name says ticks, which are the device's.
 *  - A stream is a number that is never used again: one that was closed, or never was, is answered with
 *    BRICK_METAL_CLOSED.
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

/* Changes whenever a function, a structure or a meaning does. */
#define BRICK_METAL_VERSION 3

#define BRICK_METAL_OK 0
#define BRICK_METAL_NO_DEVICE (-1)    /* the system has no Metal device */
#define BRICK_METAL_REFUSED (-2)      /* Metal answered with nil or an error */
#define BRICK_METAL_EXCEPTION (-3)    /* Metal raised an exception, which ended here */
#define BRICK_METAL_BAD_ARGUMENT (-4) /* an argument is null or out of its range */
#define BRICK_METAL_CLOSED (-5)       /* there is no such stream, or no longer */
#define BRICK_METAL_TOO_LATE (-6)     /* the command buffer was committed, ended, or is not watched (any more) */
#define BRICK_METAL_UNSUPPORTED (-7)  /* the device cannot sample its counters there */
#define BRICK_METAL_FULL (-8)         /* no room for another stream or dispatch */
#define BRICK_METAL_PENDING (-9)      /* it has not ended */

/* Instead of a time: the device did not tell. */
#define BRICK_METAL_NO_TIME (-1)

/* How a watched command buffer ended. */
#define BRICK_METAL_COMPLETED 1
#define BRICK_METAL_FAILED 2    /* with an error of Metal, its work not done; or Metal would not tell */
#define BRICK_METAL_FORGOTTEN 3 /* the application gave it up, see brick_metal_forget */

/* Where the device's counters are sampled. */
#define BRICK_METAL_STAGE_BOUNDARY 0    /* where a pass begins and ends: Apple silicon */
#define BRICK_METAL_DISPATCH_BOUNDARY 1 /* between dispatches of one encoder */

/* What brick_metal_lost counts. */
#define BRICK_METAL_LOST_BUFFERS 0    /* watched command buffers that were pushed out of the ring before a drain */
#define BRICK_METAL_LOST_DISPATCHES 1 /* dispatches for which there was no room or no time */

#define BRICK_METAL_LABEL_BYTES 64

/* The most dispatches that can wait to be drained: Metal's sample buffers hold 32 KiB. */
#define BRICK_METAL_MAX_DISPATCHES 2048

typedef int64_t brick_metal_stream;

/* One watched command buffer that has ended. Times are BRICK_METAL_NO_TIME in pairs. */
typedef struct {
  int64_t sequence;        /* its number in its stream, from 1 */
  int64_t gpu_start_ns;    /* when the device began it; by more than 1 ms outside of its life, it is not believed */
  int64_t gpu_end_ns;      /* when the device ended it; gpu_start_ns or later */
  int64_t kernel_start_ns; /* when the host began to schedule it */
  int64_t kernel_end_ns;   /* when the host had scheduled it */
  int64_t error_code;      /* an MTLCommandBufferError; 0 where there was none */
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

/* Where a mark lies. */
typedef struct {
  int64_t sequence; /* the highest number so far; 0 where nothing was watched yet */
  /*
   * When it was set; BRICK_METAL_NO_TIME where a watched command buffer is not committed yet: the mark then lies inside
   * of it, and nothing tells when the device came by.
   */
  int64_t set_ns;
} brick_metal_position;

/* One moment on two clocks: the device's counter had this value at some time in the interval. */
typedef struct {
  int64_t host_before_ns;
  int64_t host_after_ns;
  int64_t device_ticks;
} brick_metal_moment;

/* BRICK_METAL_VERSION of the library: a caller compares it with that of its header. */
int32_t brick_metal_version(void);

/* What the latest call of this thread that failed has to say. Never null; valid until the thread's next call. */
const char *brick_metal_failure(void);

/* Writes the name of the default device. BRICK_METAL_OK, or BRICK_METAL_NO_DEVICE and others. */
int32_t brick_metal_probe(char *name, int32_t name_bytes);

/*
 * Opens a stream. queue: the application's id<MTLCommandQueue>, retained; null for a queue of its own on the default
 * device. capacity: how many command buffers it keeps at once, from watch to drain; a power of two from 2 to 65,536.
 * Returns the stream, above 0, or a code.
 */
brick_metal_stream brick_metal_open(void *queue, int32_t capacity);

/* Writes the label of the queue (empty where it has none) and the name of its device. */
int32_t brick_metal_names(brick_metal_stream stream, char *queue, int32_t queue_bytes, char *device, int32_t device_bytes);

/* The id<MTLCommandQueue> of a stream, valid as long as the stream is open; null where there is no such stream. */
void *brick_metal_queue(brick_metal_stream stream);

/*
 * Watches an id<MTLCommandBuffer> of the stream's queue: best as soon as it is made, at the latest before it is
 * committed. label: what it is for; null or empty: the command buffer's own label.
 *
 * Returns its number, 1 for the first of the stream, or a code. Where the ring is full, the oldest number that was not
 * drained is pushed out and counted as lost: its times will not be known.
 */
int64_t brick_metal_watch(brick_metal_stream stream, void *command_buffer, const char *label);

/*
 * Gives a watched command buffer up that will never be committed: it then counts as never watched. Until then the
 * stream keeps it alive, and marks lie inside of it. BRICK_METAL_TOO_LATE where it was committed or is not watched.
 */
int32_t brick_metal_forget(brick_metal_stream stream, int64_t sequence);

/*
 * Marks the end of the queue as it is now. The device reaches it when it has ended every command buffer watched so far,
 * and not before set_ns: at the later of the two times.
 */
int32_t brick_metal_mark(brick_metal_stream stream, brick_metal_position *mark);

/*
 * Whether every command buffer up to a number that is committed has ended and can be drained: BRICK_METAL_PENDING as long
 * as one has not, or its completed handler has not run. To wait, ask again; waitUntilCompleted knows no timeout.
 */
int32_t brick_metal_poll_for(brick_metal_stream stream, int64_t sequence);

/*
 * Copies what has ended, in order of the numbers: the first one that has not ended holds up those after it. A number
 * that is missing was lost. Returns how many, 0 to count, or a code. Each is returned once, to one of the threads.
 */
int32_t brick_metal_drain(brick_metal_stream stream, brick_metal_buffer *buffers, int32_t count);

/* How much was lost since the stream was opened, by BRICK_METAL_LOST_...; or a code. */
int64_t brick_metal_lost(brick_metal_stream stream, int32_t what);

/*
 * Lets go of the queue. Command buffers that have not ended are forgotten; they run on undisturbed. Twice, and a number
 * that is no stream, do no harm.
 */
void brick_metal_close(brick_metal_stream stream);

/*
 * Begins to sample the device's counters for up to so many dispatches at a time, 1 to BRICK_METAL_MAX_DISPATCHES.
 * BRICK_METAL_UNSUPPORTED where the device does not sample at that point or has no timestamps: the times of command
 * buffers remain. Once for each stream: BRICK_METAL_BAD_ARGUMENT afterwards.
 */
int32_t brick_metal_sample_counters(brick_metal_stream stream, int32_t point, int32_t dispatches);

/*
 * At stage boundaries: lets a pass be sampled where it begins and ends. pass: the MTLComputePassDescriptor that the
 * encoder will be made with; its first sample buffer attachment is set. sequence: the watched command buffer.
 * BRICK_METAL_UNSUPPORTED unless stage boundaries are sampled, BRICK_METAL_FULL where none can be added until a drain.
 */
int32_t brick_metal_sample_pass(brick_metal_stream stream, int64_t sequence, void *pass, const char *operation);

/*
 * At dispatch boundaries: samples in an id<MTLComputeCommandEncoder>, with a barrier, before and after what is encoded
 * in between. The barrier keeps dispatches from overlapping, so the sum is an upper bound of what they take without.
 * begin returns a ticket for end, 0 or above, or a code as brick_metal_sample_pass does.
 */
int64_t brick_metal_begin_dispatch(brick_metal_stream stream, int64_t sequence, void *encoder, const char *operation);
int32_t brick_metal_end_dispatch(brick_metal_stream stream, int64_t ticket, void *encoder);

/* Copies sampled dispatches of command buffers that have completed. Returns how many, 0 to count, or a code. */
int32_t brick_metal_drain_dispatches(brick_metal_stream stream, brick_metal_dispatch *dispatches, int32_t count);

/* Reads both clocks. Two such moments, from before and after the work, convert ticks to host time. */
int32_t brick_metal_sample_clocks(brick_metal_stream stream, brick_metal_moment *moment);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
