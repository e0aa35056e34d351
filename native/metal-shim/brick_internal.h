/* Declarations that the parts of the shim share. Callers use brick_metal.h only. */
#ifndef BRICK_INTERNAL_H
#define BRICK_INTERNAL_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

#include "brick_metal.h"

/* Stores the message for brick_metal_failure(), and returns the code. */
int32_t brick_fail(int32_t code, const char *what, NSString *why);

/* The same for a caught exception; thrown is nil if it is no object. */
int32_t brick_caught(const char *what, id thrown);

/* Copies UTF-8, cut after a whole character; from may be null. */
void brick_copy_text(char *to, size_t to_bytes, const char *from);

/* Returns the time of the clock by which command buffers are timed. */
int64_t brick_host_ns(void);

/* Samples of the device's counters, and the dispatches that they belong to. Any thread. */
@interface BrickCounters : NSObject {
  pthread_mutex_t lock;
  id<MTLCounterSampleBuffer> samples;
  int32_t point;
  int32_t capacity;
  int32_t cursor;
  int64_t nextTicket;
  int64_t lost;
  struct brick_entry *entries;
}

/* Returns nil if the device refuses; *code is then the reason. */
- (id)initWithDevice:(id<MTLDevice>)device point:(int32_t)where capacity:(int32_t)count code:(int32_t *)code;

/* Reserves an entry for a command buffer; returns its ticket or a code. */
- (int64_t)reserve:(int64_t)sequence label:(const char *)label operation:(const char *)operation at:(int32_t)where;
- (int32_t)attach:(int64_t)ticket toPass:(MTLComputePassDescriptor *)pass;
- (int32_t)sample:(int64_t)ticket encoder:(id<MTLComputeCommandEncoder>)encoder end:(BOOL)end;
/* Gives up an entry that could not be used. */
- (void)drop:(int64_t)ticket;

/* A command buffer ended: reads its samples, or gives them up. */
- (void)ended:(int64_t)sequence completed:(BOOL)completed;
- (int32_t)drain:(brick_metal_dispatch *)dispatches count:(int32_t)count;
- (int64_t)lost;
@end

/* A stream behind its number. Completed handlers keep it alive until the last watched command buffer has ended. */
@interface BrickStream : NSObject {
  pthread_mutex_t lock;
  id<MTLCommandQueue> queue;
  id<MTLDevice> device;
  BrickCounters *counters;
  struct brick_slot *slots;
  int64_t capacity;
  int64_t next;
  int64_t head;
  int64_t firstOpen;
  int64_t lost;
  BOOL closed;
}

- (id)initWithQueue:(id<MTLCommandQueue>)itsQueue device:(id<MTLDevice>)itsDevice capacity:(int32_t)count;
- (id<MTLCommandQueue>)queue;
- (id<MTLDevice>)device;
- (int64_t)watch:(id<MTLCommandBuffer>)buffer label:(const char *)label;
- (int32_t)forget:(int64_t)sequence;
- (int32_t)mark:(brick_metal_position *)mark;
- (int32_t)pollFor:(int64_t)upTo;
- (int32_t)drain:(brick_metal_buffer *)buffers count:(int32_t)count;
- (int64_t)lost:(int32_t)what;
- (void)close;

- (int32_t)sampleAt:(int32_t)point capacity:(int32_t)count;
- (int64_t)reserve:(int64_t)sequence operation:(const char *)operation at:(int32_t)point;
/* Nil until counters are sampled. */
- (BrickCounters *)counters;
@end

#endif
