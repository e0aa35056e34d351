package org.brickprofiler.testing;

import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.LifecycleMethodExecutionExceptionHandler;

/**
 * Lets a test be skipped whose fixture is missing, whatever its clean-up makes of that: it was never set up, and what
 * {@code @AfterEach} finds is no result. Registered for every test.
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
