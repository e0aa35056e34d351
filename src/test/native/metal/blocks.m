/*
 * Blocks that were copied own the objects that they captured: so it is on macOS, while the blocks runtime of Linux
 * knows nothing of objects. These two are called by what the compiler makes of a block, and stand before the runtime's.
 */
#include <Block.h>
#include <stdlib.h>

#import <Foundation/Foundation.h>

/* What the compiler calls the kinds of captured variables. */
enum { OBJECT = 3, BLOCK = 7 };

void _Block_object_assign(void *to, const void *captured, const int kind);
void _Block_object_dispose(const void *captured, const int kind);

void _Block_object_assign(void *to, const void *captured, const int kind) {
  if (kind == OBJECT) {
    *(const void **)to = [(id)captured retain];
  } else if (kind == BLOCK) {
    *(const void **)to = _Block_copy(captured);
  } else {
    abort();
  }
}

void _Block_object_dispose(const void *captured, const int kind) {
  if (kind == OBJECT) {
    [(id)captured release];
  } else if (kind == BLOCK) {
    _Block_release(captured);
  } else {
    abort();
  }
}
