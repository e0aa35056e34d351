/* See fake_metal.h. No lock is held while handlers run, as in Metal. */
#include <Block.h>
#include <pthread.h>
#include <time.h>

#import <Metal/Metal.h>

#include "fake_metal.h"

enum { ALWAYS = 0, SPENT = -1 };

MTLCommonCounterSet const MTLCommonCounterSetTimestamp = @"timestamp";

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The lock guards all of it. */
static struct {
  int64_t nowNs;
  int32_t running;
  int64_t deviceFreeNs;
  int64_t samplingNs;
  int64_t originTicks;
  int64_t ticks;
  int64_t perNs;
  int32_t present;
  uint32_t supported;
  char faulty[64];
  int32_t faultIn;
  int32_t how;
  int32_t faults;
  int32_t live;
  int64_t waits;
  int32_t hangs;
} world;

/* Not created when the library is loaded, because Objective-C is not ready then. */
static NSMutableArray *committed;

// ---- faults and clocks ----

/* Returns whether a method must return nil, 0 or NO. Raises the exception that the method must raise. */
static BOOL fails(const char *method) {
  int32_t how = 0;
  pthread_mutex_lock(&lock);
  BOOL meant = strcmp(world.faulty, method) == 0 && world.faultIn != SPENT;
  BOOL always = world.faultIn == ALWAYS;
  if (meant && (always || --world.faultIn == 0)) {
    how = world.how;
    world.faults++;
    world.faultIn = always ? ALWAYS : SPENT;
  }
  pthread_mutex_unlock(&lock);
  if (how == FAKE_THROW) {
    [NSException raise:@"FakeException" format:@"raised by %s", method];
  }
  if (how == FAKE_THROW_OBJECT) {
    @throw @"an object";
  }
  return how == FAKE_NIL;
}

/* Returns the time of the host's clock. Called with the lock held. */
static int64_t hostNs(void) {
  if (world.running) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    world.nowNs = (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
  }
  return world.nowNs;
}

/* Advances the host's clock to a time, or waits for it. Called with the lock held. */
static void waitUntil(int64_t ns) {
  while (world.running && hostNs() < ns) {
  }
  if (world.nowNs < ns) {
    world.nowNs = ns;
  }
}

static int64_t advance(int64_t ns) {
  pthread_mutex_lock(&lock);
  int64_t now = hostNs() + ns;
  waitUntil(now);
  pthread_mutex_unlock(&lock);
  return now;
}

uint64_t clock_gettime_nsec_np(int clock) {
  return clock == CLOCK_UPTIME_RAW ? (uint64_t)advance(0) : 0;
}

/* Returns the device's counter at a time. Called with the lock held. */
static uint64_t ticksAt(int64_t ns) {
  return (uint64_t)(world.originTicks + (int64_t)((__int128)ns * world.ticks / world.perNs));
}

// ---- objects that are counted ----

@interface FakeObject : NSObject
@end

@implementation FakeObject
+ (id)alloc {
  pthread_mutex_lock(&lock);
  world.live++;
  pthread_mutex_unlock(&lock);
  return [super alloc];
}

- (void)dealloc {
  pthread_mutex_lock(&lock);
  world.live--;
  pthread_mutex_unlock(&lock);
  [super dealloc];
}
@end

@interface FakeCounterSet : FakeObject <MTLCounterSet>
@end

@implementation FakeCounterSet
- (NSString *)name {
  return fails("counterSet.name") ? nil : MTLCommonCounterSetTimestamp;
}
@end

@interface FakeSampleBuffer : FakeObject <MTLCounterSampleBuffer> {
@public
  NSUInteger count;
  uint64_t *stamps;
}
@end

@implementation FakeSampleBuffer
- (id)initWithCount:(NSUInteger)samples {
  self = [super init];
  count = samples;
  stamps = calloc(samples, sizeof *stamps);
  return self;
}

- (void)dealloc {
  free(stamps);
  [super dealloc];
}

- (NSData *)resolveCounterRange:(NSRange)range {
  if (fails("resolveCounterRange")) {
    return nil;
  }
  if (NSMaxRange(range) > count) {
    [NSException raise:NSRangeException format:@"samples end at %lu", (unsigned long)count];
  }
  pthread_mutex_lock(&lock);
  NSData *data = [NSData dataWithBytes:stamps + range.location length:range.length * sizeof *stamps];
  pthread_mutex_unlock(&lock);
  return data;
}
@end

@implementation MTLCounterSampleBufferDescriptor
- (void)dealloc {
  [counterSet release];
  [super dealloc];
}

- (id<MTLCounterSet>)counterSet {
  return counterSet;
}

- (void)setCounterSet:(id<MTLCounterSet>)set {
  [set retain];
  [counterSet release];
  counterSet = set;
}

- (MTLStorageMode)storageMode {
  return storageMode;
}

- (void)setStorageMode:(MTLStorageMode)mode {
  storageMode = mode;
}

- (NSUInteger)sampleCount {
  return sampleCount;
}

- (void)setSampleCount:(NSUInteger)count {
  sampleCount = count;
}
@end

@implementation MTLComputePassSampleBufferAttachmentDescriptor
- (void)dealloc {
  [sampleBuffer release];
  [super dealloc];
}

- (id<MTLCounterSampleBuffer>)sampleBuffer {
  return sampleBuffer;
}

- (void)setSampleBuffer:(id<MTLCounterSampleBuffer>)buffer {
  fails("setSampleBuffer");
  [buffer retain];
  [sampleBuffer release];
  sampleBuffer = buffer;
}

- (NSUInteger)startOfEncoderSampleIndex {
  return startOfEncoderSampleIndex;
}

- (void)setStartOfEncoderSampleIndex:(NSUInteger)index {
  startOfEncoderSampleIndex = index;
}

- (NSUInteger)endOfEncoderSampleIndex {
  return endOfEncoderSampleIndex;
}

- (void)setEndOfEncoderSampleIndex:(NSUInteger)index {
  endOfEncoderSampleIndex = index;
}
@end

@implementation MTLComputePassSampleBufferAttachmentDescriptorArray
- (id)init {
  self = [super init];
  first = [[MTLComputePassSampleBufferAttachmentDescriptor alloc] init];
  return self;
}

- (void)dealloc {
  [first release];
  [super dealloc];
}

- (MTLComputePassSampleBufferAttachmentDescriptor *)objectAtIndexedSubscript:(NSUInteger)index {
  return index != 0 || fails("objectAtIndexedSubscript") ? nil : first;
}
@end

@implementation MTLComputePassDescriptor
- (id)init {
  self = [super init];
  attachments = [[MTLComputePassSampleBufferAttachmentDescriptorArray alloc] init];
  return self;
}

- (void)dealloc {
  [attachments release];
  [super dealloc];
}

- (MTLComputePassSampleBufferAttachmentDescriptorArray *)sampleBufferAttachments {
  return attachments;
}
@end

// ---- command buffers ----

/* A step of a command buffer, which executes its steps in order: it takes time, or takes a sample. */
@interface FakeStep : FakeObject {
@public
  int64_t ns;
  FakeSampleBuffer *samples;
  NSUInteger index;
}
@end

@implementation FakeStep
- (void)dealloc {
  [samples release];
  [super dealloc];
}
@end

/* A copied block. On Linux, a block is not an object, so an array cannot contain it. */
@interface FakeHandler : FakeObject {
@public
  MTLCommandBufferHandler block;
}
@end

@implementation FakeHandler
- (void)dealloc {
  Block_release(block);
  [super dealloc];
}
@end

@interface FakeCommandBuffer : FakeObject <MTLCommandBuffer> {
@public
  id<MTLCommandQueue> queue;
  NSString *label;
  NSMutableArray *steps;
  NSMutableArray *handlers;
  MTLCommandBufferStatus status;
  int64_t committedNs;
  int64_t startNs;
  int64_t endNs;
  int32_t errorCode;
  int32_t timesAsked;
}
- (void)step:(int64_t)ns samples:(FakeSampleBuffer *)samples index:(NSUInteger)index;
- (void)run;
@end

@interface FakeEncoder : FakeObject <MTLComputeCommandEncoder> {
@public
  FakeCommandBuffer *buffer;
  FakeSampleBuffer *samples;
  NSUInteger endIndex;
}
@end

@implementation FakeEncoder
- (void)dealloc {
  [buffer release];
  [samples release];
  [super dealloc];
}

- (void)sampleCountersInBuffer:(id<MTLCounterSampleBuffer>)sampleBuffer
                 atSampleIndex:(NSUInteger)sampleIndex
                   withBarrier:(BOOL)barrier {
  fails("sampleCountersInBuffer");
  if (!barrier) {
    [NSException raise:NSInvalidArgumentException format:@"samples without a barrier mean nothing here"];
  }
  [buffer step:0 samples:(FakeSampleBuffer *)sampleBuffer index:sampleIndex];
}

- (void)endEncoding {
  if (samples != nil) {
    [buffer step:0 samples:samples index:endIndex];
  }
}
@end

@implementation FakeCommandBuffer
- (id)initWithQueue:(id<MTLCommandQueue>)itsQueue {
  self = [super init];
  queue = [itsQueue retain];
  steps = [[NSMutableArray alloc] init];
  handlers = [[NSMutableArray alloc] init];
  return self;
}

- (void)dealloc {
  [queue release];
  [label release];
  [steps release];
  [handlers release];
  [super dealloc];
}

- (NSString *)label {
  return fails("label") ? nil : label;
}

- (void)setLabel:(NSString *)text {
  [label release];
  label = [text copy];
}

/* POLLS queries of a committed command buffer's status count as a wait, during which the device continues. */
enum { POLLS = 4 };

- (MTLCommandBufferStatus)status {
  fails("status");
  pthread_mutex_lock(&lock);
  BOOL pending = status >= MTLCommandBufferStatusCommitted && status < MTLCommandBufferStatusCompleted;
  timesAsked += pending;
  BOOL waits = pending && timesAsked >= POLLS;
  world.waits += waits && timesAsked == POLLS;
  BOOL hangs = world.hangs;
  pthread_mutex_unlock(&lock);
  if (waits && !fails("waiting") && !hangs) {
    fake_run(1);
  }
  pthread_mutex_lock(&lock);
  MTLCommandBufferStatus result = status;
  pthread_mutex_unlock(&lock);
  return result;
}

- (NSError *)error {
  return errorCode == 0 || fails("error")
      ? nil
      : [NSError errorWithDomain:@"MTLCommandBufferErrorDomain" code:errorCode userInfo:nil];
}

- (CFTimeInterval)kernelStartTime {
  return fails("kernelStartTime") ? 0 : (double)committedNs / 1e9;
}

- (CFTimeInterval)kernelEndTime {
  return fails("kernelEndTime") ? 0 : (double)startNs / 1e9;
}

- (CFTimeInterval)GPUStartTime {
  return fails("GPUStartTime") ? 0 : (double)startNs / 1e9;
}

- (CFTimeInterval)GPUEndTime {
  return fails("GPUEndTime") ? 0 : (double)endNs / 1e9;
}

- (void)addCompletedHandler:(MTLCommandBufferHandler)block {
  fails("addCompletedHandler");
  if (status >= MTLCommandBufferStatusCommitted) {
    [NSException raise:NSInvalidArgumentException format:@"a completed handler after commit"];
  }
  FakeHandler *handler = [[FakeHandler alloc] init];
  handler->block = Block_copy(block);
  [handlers addObject:handler];
  [handler release];
}

- (id<MTLComputeCommandEncoder>)computeCommandEncoder {
  FakeEncoder *encoder = [[[FakeEncoder alloc] init] autorelease];
  encoder->buffer = [self retain];
  return encoder;
}

- (id<MTLComputeCommandEncoder>)computeCommandEncoderWithDescriptor:(MTLComputePassDescriptor *)descriptor {
  FakeEncoder *encoder = (FakeEncoder *)[self computeCommandEncoder];
  MTLComputePassSampleBufferAttachmentDescriptor *attached =
      [[descriptor sampleBufferAttachments] objectAtIndexedSubscript:0];
  FakeSampleBuffer *samples = (FakeSampleBuffer *)[attached sampleBuffer];
  if (samples != nil) {
    encoder->samples = [samples retain];
    encoder->endIndex = [attached endOfEncoderSampleIndex];
    [self step:0 samples:samples index:[attached startOfEncoderSampleIndex]];
  }
  return encoder;
}

- (void)step:(int64_t)ns samples:(FakeSampleBuffer *)samples index:(NSUInteger)index {
  FakeStep *step = [[FakeStep alloc] init];
  step->ns = ns;
  step->samples = [samples retain];
  step->index = index;
  [steps addObject:step];
  [step release];
}

- (void)commit {
  pthread_mutex_lock(&lock);
  status = MTLCommandBufferStatusCommitted;
  committedNs = hostNs();
  [committed addObject:self];
  pthread_mutex_unlock(&lock);
}

/* Executes the command buffer. Called with the lock held. */
- (void)run {
  int64_t now = committedNs > world.deviceFreeNs ? committedNs : world.deviceFreeNs;
  startNs = now;
  for (FakeStep *step in steps) {
    now += step->ns;
    if (step->samples != nil) {
      step->samples->stamps[step->index] = ticksAt(now);
    }
  }
  endNs = now;
  world.deviceFreeNs = now;
  waitUntil(now);
  status = errorCode == 0 ? MTLCommandBufferStatusCompleted : MTLCommandBufferStatusError;
}

- (void)callHandlers {
  for (FakeHandler *handler in handlers) {
    handler->block(self);
  }
  [handlers removeAllObjects];
}
@end

// ---- queue and device ----

@interface FakeQueue : FakeObject <MTLCommandQueue> {
  id<MTLDevice> device;
  NSString *label;
}
@end

@implementation FakeQueue
- (id)initWithDevice:(id<MTLDevice>)itsDevice {
  self = [super init];
  device = [itsDevice retain];
  return self;
}

- (void)dealloc {
  [device release];
  [label release];
  [super dealloc];
}

- (NSString *)label {
  return fails("queue.label") ? nil : label;
}

- (void)setLabel:(NSString *)text {
  [label release];
  label = [text copy];
}

- (id<MTLDevice>)device {
  return fails("queue.device") ? nil : device;
}

- (id<MTLCommandBuffer>)commandBuffer {
  return [[[FakeCommandBuffer alloc] initWithQueue:self] autorelease];
}
@end

@interface FakeDevice : FakeObject <MTLDevice>
@end

@implementation FakeDevice
- (NSString *)name {
  return fails("device.name") ? nil : @"Simulated GPU é";
}

- (NSArray *)counterSets {
  return fails("counterSets") ? nil : [NSArray arrayWithObject:[[[FakeCounterSet alloc] init] autorelease]];
}

- (id<MTLCommandQueue>)newCommandQueue {
  return fails("newCommandQueue") ? nil : [[FakeQueue alloc] initWithDevice:self];
}

- (BOOL)supportsCounterSampling:(MTLCounterSamplingPoint)samplingPoint {
  if (fails("supportsCounterSampling")) {
    return NO;
  }
  pthread_mutex_lock(&lock);
  BOOL supported = (world.supported >> samplingPoint & 1) != 0;
  pthread_mutex_unlock(&lock);
  return supported;
}

- (id<MTLCounterSampleBuffer>)newCounterSampleBufferWithDescriptor:(MTLCounterSampleBufferDescriptor *)descriptor
                                                             error:(NSError **)error {
  if (fails("newCounterSampleBufferWithDescriptor")) {
    NSDictionary *info = [NSDictionary dictionaryWithObject:@"out of samples" forKey:NSLocalizedDescriptionKey];
    *error = [NSError errorWithDomain:@"MTLCounterErrorDomain" code:0 userInfo:info];
    return nil;
  }
  return [[FakeSampleBuffer alloc] initWithCount:[descriptor sampleCount]];
}

- (void)sampleTimestamps:(MTLTimestamp *)cpuTimestamp gpuTimestamp:(MTLTimestamp *)gpuTimestamp {
  if (fails("sampleTimestamps")) {
    return;
  }
  pthread_mutex_lock(&lock);
  world.nowNs += world.samplingNs / 2;
  *cpuTimestamp = (uint64_t)world.nowNs;
  *gpuTimestamp = ticksAt(world.nowNs);
  world.nowNs += world.samplingNs - world.samplingNs / 2;
  pthread_mutex_unlock(&lock);
}
@end

id<MTLDevice> MTLCreateSystemDefaultDevice(void) {
  if (fails("MTLCreateSystemDefaultDevice")) {
    return nil;
  }
  pthread_mutex_lock(&lock);
  BOOL present = world.present != 0;
  pthread_mutex_unlock(&lock);
  return present ? [[FakeDevice alloc] init] : nil;
}

// ---- functions for tests ----

void fake_reset(void) {
  NSMutableArray *none = [[NSMutableArray alloc] init];
  pthread_mutex_lock(&lock);
  NSMutableArray *before = committed;
  committed = none;
  int32_t live = world.live;
  memset(&world, 0, sizeof world);
  world.live = live;
  world.nowNs = 1000000000;
  world.present = 1;
  world.supported = 1u << MTLCounterSamplingPointAtStageBoundary | 1u << MTLCounterSamplingPointAtDispatchBoundary;
  world.ticks = 1;
  world.perNs = 1;
  pthread_mutex_unlock(&lock);
  [before release];
}

void fake_device_present(int32_t present) {
  pthread_mutex_lock(&lock);
  world.present = present;
  pthread_mutex_unlock(&lock);
}

void fake_supports(int32_t point, int32_t supported) {
  pthread_mutex_lock(&lock);
  world.supported = (world.supported & ~(1u << point)) | (uint32_t)(supported != 0) << point;
  pthread_mutex_unlock(&lock);
}

void fake_fail(const char *method, int32_t nth, int32_t how) {
  pthread_mutex_lock(&lock);
  strncpy(world.faulty, method, sizeof world.faulty - 1);
  world.faultIn = nth;
  world.how = how;
  world.faults = 0;
  pthread_mutex_unlock(&lock);
}

int32_t fake_faults(void) {
  pthread_mutex_lock(&lock);
  int32_t result = world.faults;
  pthread_mutex_unlock(&lock);
  return result;
}

int64_t fake_now_ns(void) {
  return advance(0);
}

void fake_advance(int64_t ns) {
  advance(ns);
}

void fake_run_clock(void) {
  pthread_mutex_lock(&lock);
  world.running = 1;
  pthread_mutex_unlock(&lock);
}

void fake_sampling_takes(int64_t ns) {
  pthread_mutex_lock(&lock);
  world.samplingNs = ns;
  pthread_mutex_unlock(&lock);
}

void fake_ticks(int64_t origin, int64_t ticks, int64_t ns) {
  pthread_mutex_lock(&lock);
  world.originTicks = origin;
  world.ticks = ticks;
  world.perNs = ns;
  pthread_mutex_unlock(&lock);
}

void fake_hang(int32_t hangs) {
  pthread_mutex_lock(&lock);
  world.hangs = hangs;
  pthread_mutex_unlock(&lock);
}

int64_t fake_waits(void) {
  pthread_mutex_lock(&lock);
  int64_t result = world.waits;
  pthread_mutex_unlock(&lock);
  return result;
}

int32_t fake_live(void) {
  pthread_mutex_lock(&lock);
  int32_t live = world.live;
  pthread_mutex_unlock(&lock);
  return live;
}

void *fake_queue_new(const char *label) {
  @autoreleasepool {
    FakeDevice *device = [[[FakeDevice alloc] init] autorelease];
    FakeQueue *queue = [[FakeQueue alloc] initWithDevice:device];
    [queue setLabel:[NSString stringWithUTF8String:label]];
    return queue;
  }
}

void *fake_buffer_new(void *queue, const char *label) {
  @autoreleasepool {
    FakeCommandBuffer *buffer = [[(FakeQueue *)queue commandBuffer] retain];
    if (label != NULL) {
      [buffer setLabel:[NSString stringWithUTF8String:label]];
    }
    return buffer;
  }
}

void *fake_pass_new(void) {
  return [[MTLComputePassDescriptor alloc] init];
}

void fake_release(void *object) {
  @autoreleasepool {
    [(id)object release];
  }
}

void fake_work(void *buffer, int64_t ns) {
  @autoreleasepool {
    [(FakeCommandBuffer *)buffer step:ns samples:nil index:0];
  }
}

void *fake_encoder_new(void *buffer, void *pass) {
  @autoreleasepool {
    FakeCommandBuffer *in = buffer;
    id encoder = pass == NULL ? [in computeCommandEncoder]
                              : [in computeCommandEncoderWithDescriptor:(MTLComputePassDescriptor *)pass];
    return [encoder retain];
  }
}

void fake_encoder_work(void *encoder, int64_t ns) {
  fake_work(((FakeEncoder *)encoder)->buffer, ns);
}

void fake_encoder_end(void *encoder) {
  @autoreleasepool {
    [(FakeEncoder *)encoder endEncoding];
  }
}

void fake_break_buffer(void *buffer, int32_t error_code) {
  ((FakeCommandBuffer *)buffer)->errorCode = error_code;
}

void fake_commit(void *buffer) {
  @autoreleasepool {
    [(FakeCommandBuffer *)buffer commit];
  }
}

static int32_t run(int32_t most, int64_t backNs) {
  int32_t done = 0;
  @autoreleasepool {
    while (done != most) {
      FakeCommandBuffer *buffer = nil;
      pthread_mutex_lock(&lock);
      if ([committed count] > 0) {
        buffer = [[committed objectAtIndex:0] retain];
        [committed removeObjectAtIndex:0];
        [buffer run];
        world.nowNs -= backNs;
      }
      pthread_mutex_unlock(&lock);
      if (buffer == nil) {
        break;
      }
      [buffer callHandlers];
      [buffer release];
      done++;
    }
  }
  return done;
}

int32_t fake_run(int32_t most) {
  return run(most, 0);
}

int32_t fake_turn_back(int32_t most, int64_t ns) {
  return run(most, ns);
}

static void *runAll(void *most) {
  *(int32_t *)most = fake_run(*(int32_t *)most);
  return NULL;
}

int32_t fake_run_elsewhere(int32_t most) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, runAll, &most) != 0) {
    return -1;
  }
  pthread_join(thread, NULL);
  return most;
}
