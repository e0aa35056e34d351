package org.brickprofiler.agent;

/** The shapes of code in engines that serve requests, without calls of a profiler. */
public class Server {

    enum Reason {
        STOP,
        MAX_TOKENS,
        CANCELLED,
        UNHEARD_OF
    }

    static final class Answer {
        final Reason reason;

        Answer(Reason reason) {
            this.reason = reason;
        }

        Reason reason() {
            return reason;
        }
    }

    /** One thread for one request. Fails without a reason. */
    Answer serve(int[][] parts, int tokens, Reason reason) {
        for (int i = 0; i < parts.length; i++) {
            forward(parts[i].length, i == parts.length - 1);
        }
        for (int i = 1; i < tokens; i++) {
            forward(1, true);
        }
        if (reason == null) {
            throw new IllegalStateException("on purpose");
        }
        return new Answer(reason);
    }

    /** Serves each of some requests, and survives those that fail. */
    int serveAll(int[][] parts, Reason... reasons) {
        int failed = 0;
        for (Reason reason : reasons) {
            try {
                serve(parts, 2, reason);
            } catch (IllegalStateException caught) {
                failed++;
            }
        }
        return failed;
    }

    Answer retry(int[][] parts, int tokens, Reason reason) {
        return tokens > 1 ? retry(parts, tokens - 1, reason) : serve(parts, tokens, reason);
    }

    static long forward(int tokens, boolean gives) {
        return gives ? tokens : 0;
    }

    /** Enqueues a request, or fails if the queue is full. */
    void submit(Object request, int promptTokens, boolean isFull) {
        if (isFull) {
            throw new IllegalStateException("the queue is full");
        }
    }

    /** A step that works on several requests. */
    void pass(Object[] batch, int[] promptTokens) {
        for (int i = 0; i < batch.length; i++) {
            add(batch[i], promptTokens[i], promptTokens[i] > 1 ? 0 : 1);
        }
    }

    void add(Object request, int promptTokens, int gives) {}

    void complete(Object request, Reason reason, boolean fails) {
        if (fails) {
            throw new IllegalStateException("no answer");
        }
    }

    void cancel(Object request) {}
}
