package org.brickprofiler.testing;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The result of a process that has ended.
 *
 * @param exitCode what it ended with
 * @param out what it wrote to the standard output
 * @param err what it wrote to the standard error
 */
public record ProcessResult(int exitCode, String out, String err) {

    /** All that it wrote: the standard output, and behind it the standard error. */
    public String output() {
        return out + err;
    }

    /** It ended with 0; if not, the test fails with what the process wrote. */
    public ProcessResult assertSucceeded() {
        assertThat(exitCode)
                .as(() -> "exit code of a process that wrote:\n" + output())
                .isZero();
        return this;
    }
}
