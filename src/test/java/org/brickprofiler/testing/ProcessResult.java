package org.brickprofiler.testing;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The result of a process that has ended.
 *
 * @param exitCode its exit code
 * @param out its standard output
 * @param err its standard error
 */
public record ProcessResult(int exitCode, String out, String err) {

    /** Returns its complete output: the standard output, followed by the standard error. */
    public String output() {
        return out + err;
    }

    /** Checks that the exit code is 0; otherwise the test fails with the output of the process. */
    public ProcessResult assertSucceeded() {
        assertThat(exitCode)
                .as(() -> "exit code of a process that wrote:\n" + output())
                .isZero();
        return this;
    }
}
