/**
 * Requests that an engine serves, from arrival to finish, with one cause for each nanosecond in between. This package
 * uses the times of steps only; it does not depend on bricks.
 */
@NullMarked
package org.brickprofiler.request;

import org.jspecify.annotations.NullMarked;
