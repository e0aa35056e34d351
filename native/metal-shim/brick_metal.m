/* The C interface: numbers of streams, checks of arguments, and handlers for all exceptions. See brick_metal.h. */
#include "brick_internal.h"

enum { MOST_STREAMS = 256 };

static struct {
  int64_t generation;
  BrickStream *stream; /* retained; nil if the place is free */
} table[MOST_STREAMS];

static pthread_mutex_t tableLock = PTHREAD_MUTEX_INITIALIZER;

static _Thread_local char failure[512];

// ---- shared by the parts ----

void brick_copy_text(char *to, size_t to_bytes, const char *from) {
  size_t length = from == NULL ? 0 : strlen(from);
  if (length >= to_bytes) {
    length = to_bytes - 1;
    while (length > 0 && ((unsigned char)from[length] & 0xC0) == 0x80) {
      length--;
    }
  }
  memcpy(to, from == NULL ? "" : from, length);
  to[length] = 0;
}

int32_t brick_fail(int32_t code, const char *what, NSString *why) {
  const char *words = [why UTF8String];
  char text[sizeof failure];
  snprintf(text, sizeof text, "%s: %s", what, words == NULL ? "Metal gave nothing and no reason" : words);
  brick_copy_text(failure, sizeof failure, text);
  return code;
}

int32_t brick_caught(const char *what, id thrown) {
  NSString *why = @"an exception that is no NSException";
  if ([thrown isKindOfClass:[NSException class]]) {
    NSException *exception = thrown;
    why = [NSString stringWithFormat:@"%@: %@", [exception name], [exception reason]];
  }
  return brick_fail(BRICK_METAL_EXCEPTION, what, why);
}

int64_t brick_host_ns(void) {
  return (int64_t)clock_gettime_nsec_np(CLOCK_UPTIME_RAW);
}

// ---- numbers for streams ----

static int64_t enlist(BrickStream *stream) {
  int64_t number = 0;
  pthread_mutex_lock(&tableLock);
  for (int place = 0; place < MOST_STREAMS && number == 0; place++) {
    if (table[place].stream == nil) {
      table[place].generation++;
      table[place].stream = [stream retain];
      number = table[place].generation * MOST_STREAMS + place;
    }
  }
  pthread_mutex_unlock(&tableLock);
  return number != 0 ? number : brick_fail(BRICK_METAL_FULL, "open", @"too many streams are open");
}

/* Returns the stream of a number, for the caller to release; nil, with the message stored, if there is none. */
static BrickStream *borrow(int64_t number) {
  BrickStream *stream = nil;
  pthread_mutex_lock(&tableLock);
  int64_t place = number < 0 ? 0 : number % MOST_STREAMS;
  if (number > 0 && table[place].generation == number / MOST_STREAMS) {
    stream = [table[place].stream retain];
  }
  pthread_mutex_unlock(&tableLock);
  if (stream == nil) {
    brick_fail(BRICK_METAL_CLOSED, "stream", @"there is no such stream, or no longer");
  }
  return stream;
}

static BrickStream *delist(int64_t number) {
  BrickStream *stream = borrow(number);
  if (stream != nil) {
    BOOL mine = NO;
    pthread_mutex_lock(&tableLock);
    if (table[number % MOST_STREAMS].stream == stream) {
      table[number % MOST_STREAMS].stream = nil;
      mine = YES;
    }
    pthread_mutex_unlock(&tableLock);
    if (mine) {
      [stream release];
    }
  }
  return stream;
}

/* Finds the stream of a number and runs a body with it; catches every exception. */
static int64_t with(int64_t number, const char *what, int64_t (^body)(BrickStream *stream)) {
  @autoreleasepool {
    BrickStream *stream = borrow(number);
    if (stream == nil) {
      return BRICK_METAL_CLOSED;
    }
    @try {
      return body(stream);
    } @catch (id thrown) {
      return brick_caught(what, thrown);
    } @finally {
      [stream release];
    }
  }
}

static int32_t badArgument(const char *what) {
  return brick_fail(BRICK_METAL_BAD_ARGUMENT, what, @"an argument is null or out of its range");
}

// ---- the interface ----

int32_t brick_metal_version(void) {
  return BRICK_METAL_VERSION;
}

const char *brick_metal_failure(void) {
  return failure;
}

int32_t brick_metal_probe(char *name, int32_t name_bytes) {
  if (name == NULL || name_bytes < 1) {
    return badArgument("probe");
  }
  @autoreleasepool {
    id<MTLDevice> device = nil;
    @try {
      device = MTLCreateSystemDefaultDevice();
      if (device == nil) {
        return brick_fail(BRICK_METAL_NO_DEVICE, "probe", @"the system has no Metal device");
      }
      brick_copy_text(name, (size_t)name_bytes, [[device name] UTF8String]);
      return BRICK_METAL_OK;
    } @catch (id thrown) {
      return brick_caught("probe", thrown);
    } @finally {
      [device release];
    }
  }
}

static int64_t openStream(id<MTLCommandQueue> queue, int32_t capacity) {
  id<MTLDevice> device = [queue device];
  if (device == nil) {
    return brick_fail(BRICK_METAL_REFUSED, "queue.device", nil);
  }
  BrickStream *stream = [[BrickStream alloc] initWithQueue:queue device:device capacity:capacity];
  if (stream == nil) {
    return brick_fail(BRICK_METAL_REFUSED, "open", @"no memory");
  }
  int64_t number = enlist(stream);
  [stream release];
  return number;
}

brick_metal_stream brick_metal_open(void *queue, int32_t capacity) {
  if (capacity < 2 || capacity > 1 << 16 || (capacity & (capacity - 1)) != 0) {
    return badArgument("open");
  }
  @autoreleasepool {
    id<MTLDevice> device = nil;
    id<MTLCommandQueue> own = nil;
    @try {
      if (queue != NULL) {
        return openStream((id<MTLCommandQueue>)queue, capacity);
      }
      device = MTLCreateSystemDefaultDevice();
      if (device == nil) {
        return brick_fail(BRICK_METAL_NO_DEVICE, "open", @"the system has no Metal device");
      }
      own = [device newCommandQueue];
      return own == nil ? brick_fail(BRICK_METAL_REFUSED, "newCommandQueue", nil) : openStream(own, capacity);
    } @catch (id thrown) {
      return brick_caught("open", thrown);
    } @finally {
      [own release];
      [device release];
    }
  }
}

int32_t brick_metal_names(
    brick_metal_stream stream, char *queue, int32_t queue_bytes, char *device, int32_t device_bytes) {
  if (queue == NULL || queue_bytes < 1 || device == NULL || device_bytes < 1) {
    return badArgument("names");
  }
  return (int32_t)with(stream, "names", ^int64_t(BrickStream *found) {
    brick_copy_text(queue, (size_t)queue_bytes, [[[found queue] label] UTF8String]);
    brick_copy_text(device, (size_t)device_bytes, [[[found device] name] UTF8String]);
    return BRICK_METAL_OK;
  });
}

void *brick_metal_queue(brick_metal_stream stream) {
  BrickStream *found = borrow(stream);
  void *queue = [found queue];
  [found release];
  return queue;
}

int64_t brick_metal_watch(brick_metal_stream stream, void *command_buffer, const char *label) {
  if (command_buffer == NULL) {
    return badArgument("watch");
  }
  return with(stream, "watch", ^int64_t(BrickStream *found) {
    return [found watch:(id<MTLCommandBuffer>)command_buffer label:label];
  });
}

int32_t brick_metal_forget(brick_metal_stream stream, int64_t sequence) {
  return (int32_t)with(stream, "forget", ^int64_t(BrickStream *found) {
    return [found forget:sequence];
  });
}

int32_t brick_metal_mark(brick_metal_stream stream, brick_metal_position *mark) {
  if (mark == NULL) {
    return badArgument("mark");
  }
  return (int32_t)with(stream, "mark", ^int64_t(BrickStream *found) {
    return [found mark:mark];
  });
}

int32_t brick_metal_poll_for(brick_metal_stream stream, int64_t sequence) {
  return (int32_t)with(stream, "poll_for", ^int64_t(BrickStream *found) {
    return [found pollFor:sequence];
  });
}

int32_t brick_metal_drain(brick_metal_stream stream, brick_metal_buffer *buffers, int32_t count) {
  if (buffers == NULL || count < 0) {
    return badArgument("drain");
  }
  return (int32_t)with(stream, "drain", ^int64_t(BrickStream *found) {
    return [found drain:buffers count:count];
  });
}

int64_t brick_metal_lost(brick_metal_stream stream, int32_t what) {
  if (what != BRICK_METAL_LOST_BUFFERS && what != BRICK_METAL_LOST_DISPATCHES) {
    return badArgument("lost");
  }
  return with(stream, "lost", ^int64_t(BrickStream *found) {
    return [found lost:what];
  });
}

void brick_metal_close(brick_metal_stream stream) {
  @autoreleasepool {
    BrickStream *found = delist(stream);
    @try {
      [found close];
    } @catch (id thrown) {
      brick_caught("close", thrown);
    } @finally {
      [found release];
    }
  }
}

int32_t brick_metal_sample_counters(brick_metal_stream stream, int32_t point, int32_t dispatches) {
  BOOL known = point == BRICK_METAL_STAGE_BOUNDARY || point == BRICK_METAL_DISPATCH_BOUNDARY;
  if (!known || dispatches < 1 || dispatches > BRICK_METAL_MAX_DISPATCHES) {
    return badArgument("counters");
  }
  return (int32_t)with(stream, "counters", ^int64_t(BrickStream *found) {
    return [found sampleAt:point capacity:dispatches];
  });
}

/* Reserves an entry and uses it; gives it up if that fails. Returns the ticket or a code. */
static int64_t reserveFor(
    int64_t number, int64_t sequence, const char *operation, int32_t point, int32_t (^use)(BrickCounters *, int64_t)) {
  return with(number, "counters", ^int64_t(BrickStream *found) {
    int64_t ticket = [found reserve:sequence operation:operation at:point];
    if (ticket < 0) {
      return ticket;
    }
    int32_t code;
    @try {
      code = use([found counters], ticket);
    } @catch (id thrown) {
      code = brick_caught("counters", thrown);
    }
    if (code != BRICK_METAL_OK) {
      [[found counters] drop:ticket];
    }
    return code == BRICK_METAL_OK ? ticket : code;
  });
}

int32_t brick_metal_sample_pass(brick_metal_stream stream, int64_t sequence, void *pass, const char *operation) {
  if (pass == NULL || operation == NULL || *operation == 0) {
    return badArgument("sample_pass");
  }
  int64_t ticket = reserveFor(stream, sequence, operation, BRICK_METAL_STAGE_BOUNDARY,
                              ^int32_t(BrickCounters *counters, int64_t reserved) {
    return [counters attach:reserved toPass:(MTLComputePassDescriptor *)pass];
  });
  return ticket < 0 ? (int32_t)ticket : BRICK_METAL_OK;
}

int64_t brick_metal_begin_dispatch(
    brick_metal_stream stream, int64_t sequence, void *encoder, const char *operation) {
  if (encoder == NULL || operation == NULL || *operation == 0) {
    return badArgument("begin_dispatch");
  }
  return reserveFor(stream, sequence, operation, BRICK_METAL_DISPATCH_BOUNDARY,
                    ^int32_t(BrickCounters *counters, int64_t reserved) {
    return [counters sample:reserved encoder:(id<MTLComputeCommandEncoder>)encoder end:NO];
  });
}

int32_t brick_metal_end_dispatch(brick_metal_stream stream, int64_t ticket, void *encoder) {
  if (encoder == NULL || ticket < 0) {
    return badArgument("end_dispatch");
  }
  return (int32_t)with(stream, "end_dispatch", ^int64_t(BrickStream *found) {
    BrickCounters *counters = [found counters];
    return counters == nil ? brick_fail(BRICK_METAL_UNSUPPORTED, "counters", @"the stream does not sample counters")
                           : [counters sample:ticket encoder:(id<MTLComputeCommandEncoder>)encoder end:YES];
  });
}

int32_t brick_metal_drain_dispatches(brick_metal_stream stream, brick_metal_dispatch *dispatches, int32_t count) {
  if (dispatches == NULL || count < 0) {
    return badArgument("drain_dispatches");
  }
  return (int32_t)with(stream, "drain_dispatches", ^int64_t(BrickStream *found) {
    return [[found counters] drain:dispatches count:count];
  });
}

int32_t brick_metal_sample_clocks(brick_metal_stream stream, brick_metal_moment *moment) {
  if (moment == NULL) {
    return badArgument("sample_clocks");
  }
  return (int32_t)with(stream, "sampleTimestamps", ^int64_t(BrickStream *found) {
    MTLTimestamp cpu = 0;
    MTLTimestamp gpu = 0;
    /* The unit of Metal's own host time varies. This clock is that of command buffers; two reads bound the error. */
    int64_t before = brick_host_ns();
    [[found device] sampleTimestamps:&cpu gpuTimestamp:&gpu];
    int64_t after = brick_host_ns();
    if (gpu == 0 || gpu > INT64_MAX) {
      return brick_fail(BRICK_METAL_REFUSED, "sampleTimestamps", @"the device did not tell its time");
    }
    *moment = (brick_metal_moment){.host_before_ns = before, .host_after_ns = after, .device_ticks = (int64_t)gpu};
    return BRICK_METAL_OK;
  });
}
