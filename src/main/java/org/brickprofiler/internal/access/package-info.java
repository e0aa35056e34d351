/** Access of other packages of this library to members of the root package that applications cannot reach. */
@NullMarked
package org.brickprofiler.internal.access;

import org.jspecify.annotations.NullMarked;
