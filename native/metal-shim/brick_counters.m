/* The device's counters: which samples belong to which dispatch, and their values. */
#include "brick_internal.h"

enum { FREE, WAITING, READING, DONE };

struct brick_entry {
  int state;
  BOOL begun;
  BOOL finished;
  int64_t ticket;
  uint64_t newestTicks; /* of the entry's earlier use: samples that were not written again are not newer */
  brick_metal_dispatch dispatch;
};

static id<MTLCounterSet> timestamps(id<MTLDevice> device) {
  for (id<MTLCounterSet> set in [device counterSets]) {
    if ([[set name] isEqualToString:MTLCommonCounterSetTimestamp]) {
      return set;
    }
  }
  return nil;
}

@implementation BrickCounters

- (id)initWithDevice:(id<MTLDevice>)device point:(int32_t)where capacity:(int32_t)count code:(int32_t *)code {
  self = [super init];
  if (self == nil) {
    *code = brick_fail(BRICK_METAL_REFUSED, "counters", @"no memory");
    return nil;
  }
  pthread_mutex_init(&lock, NULL);
  point = where;
  capacity = count;
  entries = calloc((size_t)count, sizeof *entries);
  @try {
    *code = entries == NULL ? brick_fail(BRICK_METAL_REFUSED, "counters", @"no memory") : [self makeSamples:device];
  } @catch (id thrown) {
    *code = brick_caught("counters", thrown);
  }
  if (*code != BRICK_METAL_OK) {
    [self release];
    return nil;
  }
  return self;
}

- (int32_t)makeSamples:(id<MTLDevice>)device {
  MTLCounterSamplingPoint metalPoint = point == BRICK_METAL_STAGE_BOUNDARY ? MTLCounterSamplingPointAtStageBoundary
                                                                           : MTLCounterSamplingPointAtDispatchBoundary;
  if (![device supportsCounterSampling:metalPoint]) {
    return brick_fail(BRICK_METAL_UNSUPPORTED, "counters",
                      point == BRICK_METAL_STAGE_BOUNDARY
                          ? @"the device does not sample counters at stage boundaries"
                          : @"the device does not sample counters at dispatch boundaries");
  }
  id<MTLCounterSet> set = timestamps(device);
  if (set == nil) {
    return brick_fail(BRICK_METAL_UNSUPPORTED, "counters", @"the device has no counter set of timestamps");
  }
  MTLCounterSampleBufferDescriptor *wanted = [[[MTLCounterSampleBufferDescriptor alloc] init] autorelease];
  [wanted setCounterSet:set];
  [wanted setStorageMode:MTLStorageModeShared];
  [wanted setSampleCount:2 * (NSUInteger)capacity];
  NSError *error = nil;
  samples = [device newCounterSampleBufferWithDescriptor:wanted error:&error];
  if (samples == nil) {
    return brick_fail(BRICK_METAL_REFUSED, "newCounterSampleBufferWithDescriptor", [error localizedDescription]);
  }
  return BRICK_METAL_OK;
}

- (void)dealloc {
  [samples release];
  free(entries);
  pthread_mutex_destroy(&lock);
  [super dealloc];
}

- (int64_t)reserve:(int64_t)sequence label:(const char *)label operation:(const char *)operation at:(int32_t)where {
  if (where != point) {
    return brick_fail(BRICK_METAL_UNSUPPORTED, "counters", @"they are sampled at the other boundary");
  }
  pthread_mutex_lock(&lock);
  struct brick_entry *found = NULL;
  int32_t before = 0;
  for (int32_t step = 0; step < capacity; step++) {
    struct brick_entry *entry = &entries[(cursor + step) % capacity];
    if (entry->state == FREE && found == NULL) {
      found = entry;
    }
    before += entry->state == WAITING && entry->dispatch.sequence == sequence;
  }
  int64_t ticket = -1;
  if (found != NULL) {
    int32_t place = (int32_t)(found - entries);
    cursor = (place + 1) % capacity;
    /* The place is the ticket modulo the capacity. */
    ticket = nextTicket * capacity + place;
    nextTicket++;
    found->state = WAITING;
    found->begun = NO;
    found->finished = NO;
    found->ticket = ticket;
    found->dispatch = (brick_metal_dispatch){.sequence = sequence, .index = before};
    brick_copy_text(found->dispatch.label, sizeof found->dispatch.label, label);
    brick_copy_text(found->dispatch.operation, sizeof found->dispatch.operation, operation);
  } else {
    lost++;
  }
  pthread_mutex_unlock(&lock);
  return found != NULL ? ticket : brick_fail(BRICK_METAL_FULL, "counters", @"all samples are in use");
}

/* Returns the entry of a ticket whose command buffer has not ended; null if there is none. Needs the lock. */
- (struct brick_entry *)waiting:(int64_t)ticket {
  struct brick_entry *entry = ticket < 0 ? NULL : &entries[ticket % capacity];
  return entry != NULL && entry->ticket == ticket && entry->state == WAITING ? entry : NULL;
}

/* Returns the index of the first of the two samples of a ticket. */
- (NSUInteger)firstSample:(int64_t)ticket {
  return 2 * (NSUInteger)(ticket % capacity);
}

- (int32_t)attach:(int64_t)ticket toPass:(MTLComputePassDescriptor *)pass {
  MTLComputePassSampleBufferAttachmentDescriptor *attachment =
      [[pass sampleBufferAttachments] objectAtIndexedSubscript:0];
  if (attachment == nil) {
    return brick_fail(BRICK_METAL_REFUSED, "sampleBufferAttachments", nil);
  }
  [attachment setSampleBuffer:samples];
  [attachment setStartOfEncoderSampleIndex:[self firstSample:ticket]];
  [attachment setEndOfEncoderSampleIndex:[self firstSample:ticket] + 1];
  pthread_mutex_lock(&lock);
  struct brick_entry *entry = [self waiting:ticket];
  if (entry != NULL) {
    entry->begun = YES;
    entry->finished = YES;
  }
  pthread_mutex_unlock(&lock);
  return BRICK_METAL_OK;
}

- (int32_t)sample:(int64_t)ticket encoder:(id<MTLComputeCommandEncoder>)encoder end:(BOOL)end {
  pthread_mutex_lock(&lock);
  struct brick_entry *entry = [self waiting:ticket];
  BOOL due = entry != NULL && entry->begun == end && !entry->finished;
  pthread_mutex_unlock(&lock);
  if (!due) {
    return brick_fail(BRICK_METAL_TOO_LATE, "dispatch", @"its command buffer has ended, or it was sampled already");
  }
  [encoder sampleCountersInBuffer:samples atSampleIndex:[self firstSample:ticket] + (end ? 1 : 0) withBarrier:YES];
  pthread_mutex_lock(&lock);
  entry = [self waiting:ticket];
  if (entry != NULL) {
    entry->begun = YES;
    entry->finished = end;
  }
  pthread_mutex_unlock(&lock);
  return BRICK_METAL_OK;
}

- (void)drop:(int64_t)ticket {
  pthread_mutex_lock(&lock);
  struct brick_entry *entry = [self waiting:ticket];
  if (entry != NULL) {
    entry->state = FREE;
    lost++;
  }
  pthread_mutex_unlock(&lock);
}

- (void)ended:(int64_t)sequence completed:(BOOL)completed {
  int32_t mine[BRICK_METAL_MAX_DISPATCHES];
  int32_t count = 0;
  pthread_mutex_lock(&lock);
  for (int32_t place = 0; place < capacity; place++) {
    if (entries[place].state == WAITING && entries[place].dispatch.sequence == sequence) {
      entries[place].state = READING;
      mine[count++] = place;
    }
  }
  pthread_mutex_unlock(&lock);
  for (int32_t next = 0; next < count; next++) {
    /* No other thread accesses an entry in the state READING. */
    struct brick_entry *entry = &entries[mine[next]];
    BOOL read = completed && entry->finished && [self read:entry];
    pthread_mutex_lock(&lock);
    entry->state = read ? DONE : FREE;
    lost += !read;
    pthread_mutex_unlock(&lock);
  }
}

- (BOOL)read:(struct brick_entry *)entry {
  @try {
    NSData *data = [samples resolveCounterRange:NSMakeRange([self firstSample:entry->ticket], 2)];
    MTLCounterResultTimestamp result[2];
    if ([data length] < sizeof result) {
      return NO;
    }
    [data getBytes:result length:sizeof result];
    uint64_t start = result[0].timestamp;
    uint64_t end = result[1].timestamp;
    BOOL told = start != MTLCounterErrorValue && end != MTLCounterErrorValue && end <= INT64_MAX;
    if (!told || start > end || start <= entry->newestTicks) {
      return NO;
    }
    entry->newestTicks = end;
    entry->dispatch.start_ticks = (int64_t)start;
    entry->dispatch.end_ticks = (int64_t)end;
    return YES;
  } @catch (id thrown) {
    brick_caught("resolveCounterRange", thrown);
    return NO;
  }
}

- (int32_t)drain:(brick_metal_dispatch *)dispatches count:(int32_t)count {
  int32_t copied = 0;
  pthread_mutex_lock(&lock);
  for (int32_t step = 0; step < capacity && copied < count; step++) {
    /* From the cursor on, the entries are in the order of their reservation, unless entries in use were skipped. */
    struct brick_entry *entry = &entries[(cursor + step) % capacity];
    if (entry->state == DONE) {
      dispatches[copied++] = entry->dispatch;
      entry->state = FREE;
    }
  }
  pthread_mutex_unlock(&lock);
  return copied;
}

- (int64_t)lost {
  pthread_mutex_lock(&lock);
  int64_t result = lost;
  pthread_mutex_unlock(&lock);
  return result;
}

@end
