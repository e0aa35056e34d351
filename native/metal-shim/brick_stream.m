/*
 * One stream: a ring of the command buffers that were watched, by number. The lock is held for a few instructions, and
 * never across a call into Metal, whose completed handlers acquire it, too.
 *
 * The slot of a number is the number modulo the capacity. The number that is higher by the capacity reuses the slot. If
 * the earlier number was not drained, it is lost, and its completed handler finds another number and does nothing.
 */
#include <math.h>

#include "brick_internal.h"

/* The most by which the device's times, converted from its own clock, may exceed the host's times that enclose them. */
static const int64_t SLACK_NS = 1000000;

/* The most open command buffers that are checked when a mark is set; of more, one is assumed to be not committed. */
enum { MOST_OPEN = 16 };

enum { UNUSED, OPEN, COMMITTED, ENDED };

struct brick_slot {
  int state;
  id<MTLCommandBuffer> buffer; /* retained while OPEN or COMMITTED */
  int64_t watchedNs;
  brick_metal_buffer record;
};

static int64_t toNs(CFTimeInterval seconds) {
  return isfinite(seconds) && seconds > 0 && seconds < 9e9 ? (int64_t)llround(seconds * 1e9) : BRICK_METAL_NO_TIME;
}

static void setPair(int64_t *from, int64_t *to, CFTimeInterval startSeconds, CFTimeInterval endSeconds) {
  *from = toNs(startSeconds);
  *to = toNs(endSeconds);
  if (*from < 0 || *to < *from) {
    *from = BRICK_METAL_NO_TIME;
    *to = BRICK_METAL_NO_TIME;
  }
}

@implementation BrickStream

- (id)initWithQueue:(id<MTLCommandQueue>)itsQueue device:(id<MTLDevice>)itsDevice capacity:(int32_t)count {
  self = [super init];
  if (self != nil) {
    pthread_mutex_init(&lock, NULL);
    queue = [itsQueue retain];
    device = [itsDevice retain];
    capacity = count;
    next = head = firstOpen = 1;
    slots = calloc((size_t)count, sizeof *slots);
    if (slots == NULL) {
      [self release];
      return nil;
    }
  }
  return self;
}

- (void)dealloc {
  [counters release];
  [queue release];
  [device release];
  free(slots);
  pthread_mutex_destroy(&lock);
  [super dealloc];
}

- (id<MTLCommandQueue>)queue {
  return queue;
}

- (id<MTLDevice>)device {
  return device;
}

- (struct brick_slot *)place:(int64_t)sequence {
  return &slots[sequence % capacity];
}

/* Returns the slot of a number; null if the slot is not in use by this number. The caller holds the lock. */
- (struct brick_slot *)slot:(int64_t)sequence {
  struct brick_slot *slot = sequence < 1 ? NULL : [self place:sequence];
  return slot != NULL && slot->state != UNUSED && slot->record.sequence == sequence ? slot : NULL;
}

/* Removes the command buffer from a slot, for the caller to release without the lock. */
static id<MTLCommandBuffer> takeBuffer(struct brick_slot *slot) {
  id<MTLCommandBuffer> buffer = slot->buffer;
  slot->buffer = nil;
  return buffer;
}

// ---- watching ----

- (int64_t)watch:(id<MTLCommandBuffer>)buffer label:(const char *)label {
  if ([buffer status] >= MTLCommandBufferStatusCommitted) {
    return brick_fail(BRICK_METAL_TOO_LATE, "watch", @"the command buffer is committed already");
  }
  if (label == NULL || *label == 0) {
    label = [[buffer label] UTF8String];
  }
  id<MTLCommandBuffer> lostBuffer = nil;
  pthread_mutex_lock(&lock);
  BOOL refused = closed;
  int64_t sequence = next;
  if (!refused) {
    struct brick_slot *slot = [self place:sequence];
    if (head <= sequence - capacity) {
      head = sequence - capacity + 1;
      lost++;
      lostBuffer = takeBuffer(slot);
    }
    slot->state = OPEN;
    slot->buffer = [buffer retain];
    slot->watchedNs = brick_host_ns();
    slot->record = (brick_metal_buffer){.sequence = sequence};
    brick_copy_text(slot->record.label, BRICK_METAL_LABEL_BYTES, label == NULL || *label == 0 ? "command buffer" : label);
    next++;
  }
  pthread_mutex_unlock(&lock);
  [lostBuffer release];
  if (refused) {
    return brick_fail(BRICK_METAL_CLOSED, "watch", @"the stream is closed");
  }
  @try {
    [buffer addCompletedHandler:^(id<MTLCommandBuffer> done) {
      [self ended:sequence by:done];
    }];
  } @catch (id thrown) {
    /* The number is assigned already, and no handler will end it. */
    [self end:sequence with:BRICK_METAL_FAILED];
    return brick_caught("addCompletedHandler", thrown);
  }
  return sequence;
}

- (int32_t)forget:(int64_t)sequence {
  if ([self settle:sequence]) {
    [self end:sequence with:BRICK_METAL_FORGOTTEN];
    return BRICK_METAL_OK;
  }
  return brick_fail(BRICK_METAL_TOO_LATE, "forget", @"the command buffer is committed, has ended, or is not watched");
}

/* Returns whether a number is watched and its command buffer is not committed; notes it if it is committed. */
- (BOOL)settle:(int64_t)sequence {
  pthread_mutex_lock(&lock);
  struct brick_slot *slot = [self slot:sequence];
  id<MTLCommandBuffer> buffer = slot != NULL && slot->state == OPEN ? [slot->buffer retain] : nil;
  pthread_mutex_unlock(&lock);
  BOOL open = NO;
  @try {
    open = buffer != nil && [buffer status] < MTLCommandBufferStatusCommitted;
  } @finally {
    [buffer release];
  }
  if (!open) {
    [self committed:sequence];
  }
  return open;
}

- (void)committed:(int64_t)sequence {
  pthread_mutex_lock(&lock);
  struct brick_slot *slot = [self slot:sequence];
  if (slot != NULL && slot->state == OPEN) {
    slot->state = COMMITTED;
  }
  pthread_mutex_unlock(&lock);
}

// ---- the end of command buffers ----

/* The completed handler. It runs on a thread of Metal, at any time, even after the stream was closed. */
- (void)ended:(int64_t)sequence by:(id<MTLCommandBuffer>)done {
  @autoreleasepool {
    brick_metal_buffer record = {.status = BRICK_METAL_FAILED};
    setPair(&record.gpu_start_ns, &record.gpu_end_ns, 0, 0);
    setPair(&record.kernel_start_ns, &record.kernel_end_ns, 0, 0);
    @try {
      if ([done status] == MTLCommandBufferStatusCompleted) {
        record.status = BRICK_METAL_COMPLETED;
      }
      record.error_code = [[done error] code];
      setPair(&record.gpu_start_ns, &record.gpu_end_ns, [done GPUStartTime], [done GPUEndTime]);
      setPair(&record.kernel_start_ns, &record.kernel_end_ns, [done kernelStartTime], [done kernelEndTime]);
    } @catch (id thrown) {
      brick_caught("completed handler", thrown);
    }
    [[self counters] ended:sequence completed:record.status == BRICK_METAL_COMPLETED];
    [self end:sequence record:&record];
  }
}

/* Ends a number without times. */
- (void)end:(int64_t)sequence with:(int32_t)status {
  brick_metal_buffer record = {.status = status};
  setPair(&record.gpu_start_ns, &record.gpu_end_ns, 0, 0);
  setPair(&record.kernel_start_ns, &record.kernel_end_ns, 0, 0);
  [[self counters] ended:sequence completed:NO];
  [self end:sequence record:&record];
}

- (void)end:(int64_t)sequence record:(brick_metal_buffer *)record {
  id<MTLCommandBuffer> buffer = nil;
  pthread_mutex_lock(&lock);
  struct brick_slot *slot = [self slot:sequence];
  if (slot != NULL && slot->state != ENDED) {
    record->sequence = sequence;
    memcpy(record->label, slot->record.label, BRICK_METAL_LABEL_BYTES);
    if (record->gpu_start_ns < slot->watchedNs - SLACK_NS || record->gpu_end_ns > brick_host_ns() + SLACK_NS) {
      /* The times are not of the host's clock. */
      setPair(&record->gpu_start_ns, &record->gpu_end_ns, 0, 0);
    }
    slot->record = *record;
    slot->state = ENDED;
    buffer = takeBuffer(slot);
  }
  pthread_mutex_unlock(&lock);
  [buffer release];
}

// ---- marks and polling ----

- (int32_t)mark:(brick_metal_position *)mark {
  int64_t open[MOST_OPEN];
  int count = 0;
  BOOL more = NO;
  pthread_mutex_lock(&lock);
  int64_t highest = next - 1;
  int64_t setNs = brick_host_ns();
  if (firstOpen < head) {
    firstOpen = head;
  }
  for (int64_t sequence = firstOpen; sequence <= highest; sequence++) {
    if ([self place:sequence]->state != OPEN) {
      firstOpen += firstOpen == sequence;
    } else if (count == MOST_OPEN) {
      more = YES;
      break;
    } else {
      open[count++] = sequence;
    }
  }
  pthread_mutex_unlock(&lock);
  BOOL inside = more;
  for (int at = 0; at < count; at++) {
    inside |= [self settle:open[at]];
  }
  *mark = (brick_metal_position){.sequence = highest, .set_ns = inside ? BRICK_METAL_NO_TIME : setNs};
  return BRICK_METAL_OK;
}

- (int32_t)pollFor:(int64_t)upTo {
  pthread_mutex_lock(&lock);
  int64_t last = upTo < next ? upTo : next - 1;
  int64_t first = head;
  pthread_mutex_unlock(&lock);
  /* From the last one back: when it has ended, those before it usually have. */
  for (int64_t sequence = last; sequence >= first; sequence--) {
    pthread_mutex_lock(&lock);
    struct brick_slot *slot = [self slot:sequence];
    id<MTLCommandBuffer> buffer = slot != NULL && slot->state != ENDED ? [slot->buffer retain] : nil;
    pthread_mutex_unlock(&lock);
    MTLCommandBufferStatus status = MTLCommandBufferStatusNotEnqueued;
    @try {
      status = buffer == nil ? status : [buffer status];
    } @finally {
      [buffer release];
    }
    if (status >= MTLCommandBufferStatusCommitted) {
      return brick_fail(BRICK_METAL_PENDING, "poll_for",
                        status >= MTLCommandBufferStatusCompleted ? @"a command buffer's completed handler has not run"
                                                                  : @"a committed command buffer has not ended");
    }
  }
  return BRICK_METAL_OK;
}

// ---- draining ----

- (int32_t)drain:(brick_metal_buffer *)buffers count:(int32_t)count {
  int32_t copied = 0;
  pthread_mutex_lock(&lock);
  while (copied < count && head < next && [self place:head]->state == ENDED) {
    struct brick_slot *slot = [self place:head];
    buffers[copied++] = slot->record;
    slot->state = UNUSED;
    head++;
  }
  pthread_mutex_unlock(&lock);
  return copied;
}

- (int64_t)lost:(int32_t)what {
  if (what == BRICK_METAL_LOST_DISPATCHES) {
    return [[self counters] lost];
  }
  pthread_mutex_lock(&lock);
  int64_t result = lost;
  pthread_mutex_unlock(&lock);
  return result;
}

- (void)close {
  pthread_mutex_lock(&lock);
  closed = YES;
  int64_t first = head;
  int64_t end = next;
  pthread_mutex_unlock(&lock);
  for (int64_t sequence = first; sequence < end; sequence++) {
    [self end:sequence with:BRICK_METAL_FORGOTTEN];
  }
}

// ---- counters ----

- (int32_t)sampleAt:(int32_t)point capacity:(int32_t)count {
  int32_t code = BRICK_METAL_OK;
  BrickCounters *made = [[BrickCounters alloc] initWithDevice:device point:point capacity:count code:&code];
  if (made == nil) {
    return code;
  }
  pthread_mutex_lock(&lock);
  BOOL first = counters == nil;
  if (first) {
    counters = made;
  }
  pthread_mutex_unlock(&lock);
  if (!first) {
    [made release];
    return brick_fail(BRICK_METAL_BAD_ARGUMENT, "counters", @"the stream samples them already");
  }
  return BRICK_METAL_OK;
}

- (BrickCounters *)counters {
  pthread_mutex_lock(&lock);
  BrickCounters *result = counters;
  pthread_mutex_unlock(&lock);
  return result;
}

- (int64_t)reserve:(int64_t)sequence operation:(const char *)operation at:(int32_t)point {
  BrickCounters *sampling = [self counters];
  if (sampling == nil) {
    return brick_fail(BRICK_METAL_UNSUPPORTED, "counters", @"the stream does not sample counters");
  }
  char label[BRICK_METAL_LABEL_BYTES] = "";
  pthread_mutex_lock(&lock);
  struct brick_slot *slot = [self slot:sequence];
  BOOL pending = slot != NULL && slot->state != ENDED;
  if (pending) {
    memcpy(label, slot->record.label, sizeof label);
  }
  pthread_mutex_unlock(&lock);
  if (!pending) {
    return brick_fail(BRICK_METAL_TOO_LATE, "counters", @"the command buffer is not watched, or has ended");
  }
  return [sampling reserve:sequence label:label operation:operation at:point];
}

@end
