/*
 * On macOS, copied blocks own the objects that they captured, while the blocks runtime of Linux does not retain
 * objects. Compiled blocks call these two functions, which take precedence over those of the runtime.
 */
#include <Block.h>
#include <stdlib.h>

#import <Foundation/Foundation.h>

/* The compiler's codes for the kinds of captured variables. */
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
