package org.brickprofiler.testing;

import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.LifecycleMethodExecutionExceptionHandler;

/**
 * Lets a test with a missing fixture be skipped, regardless of exceptions in its clean-up: the fixture was never set
 * up, and an exception of {@code @AfterEach} is no result. Registered for every test.
 */
public final class SkippedCleanUp implements LifecycleMethodExecutionExceptionHandler {

    @Override
    public void handleAfterEachMethodExecutionException(ExtensionContext test, Throwable thrown) throws Throwable {
        if (test.getExecutionException()
                .filter(Fixture.Missing.class::isInstance)
                .isEmpty()) {
            throw thrown;
        }
    }
}
