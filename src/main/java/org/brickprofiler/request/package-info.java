/**
 * Requests that an engine serves, from arrival to finish, with one cause for each nanosecond in between. This package
 * knows steps by their times, and no brick.
 */
@NullMarked
package org.brickprofiler.request;

import org.jspecify.annotations.NullMarked;
