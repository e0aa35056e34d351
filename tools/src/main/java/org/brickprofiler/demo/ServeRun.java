package org.brickprofiler.demo;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.StepInfo;
import org.brickprofiler.Work;
import org.brickprofiler.request.Outcome;
import org.brickprofiler.request.RequestRecorder;
import org.brickprofiler.spi.NanoClock;

/**
 * Serves requests with one model: requests arrive at random, wait for a free slot, and share steps (continuous
 * batching). A step processes either one whole prompt, or a chunk of prompts beside the decoding of all other requests.
 * Each sequence has a KV cache of its own; a step computes its sequences one after the other. One thread.
 */
final class ServeRun {

    /**
     * The bounds of prompts and answers, tokens; a prompt is long with a probability of one in {@link #LONG_ONE_IN}.
     */
    private static final int SHORTEST = 4;

    private static final int SHORT_PROMPT = 16;
    private static final int LONG_PROMPT = 128;
    private static final int LONG_ONE_IN = 4;
    private static final int LONGEST_ANSWER = 24;

    /** The positions of the longest sequence. */
    static final int LONGEST_SEQUENCE = LONG_PROMPT + LONGEST_ANSWER;

    private static final double NS_PER_S = 1e9;

    /**
     * A request of the load.
     *
     * @param number its number, from 0
     * @param arrivesNs its arrival after the beginning, ns
     * @param promptTokens tokens of its prompt
     * @param outputTokens tokens that it wants
     */
    record Request(int number, long arrivesNs, int promptTokens, int outputTokens) {}

    /**
     * A step as the server saw it.
     *
     * @param startNs the clock before it, ns
     * @param endNs the clock after it, ns
     * @param prompts whether it processed prompts
     * @param members the numbers of its requests
     */
    record LoggedStep(long startNs, long endNs, boolean prompts, List<Integer> members) {}

    /**
     * A request as the server saw it.
     *
     * @param request the request
     * @param arrivedNs the clock at its arrival, ns
     * @param firstTokenNs the clock after the step that gave its first token, ns
     * @param finishedNs the clock at its finish, ns
     */
    record LoggedRequest(Request request, long arrivedNs, long firstTokenNs, long finishedNs) {}

    /** A request with a slot. */
    private static final class Sequence {
        final Request request;
        final long handle;
        final Decoder decoder;
        final SplittableRandom prompt;
        int processed;
        int given;
        int next;
        int position;
        long firstTokenNs;

        Sequence(Request request, long handle, Decoder decoder, long seed) {
            this.request = request;
            this.handle = handle;
            this.decoder = decoder;
            this.prompt = new SplittableRandom(seed);
        }

        int promptLeft() {
            return request.promptTokens - processed;
        }
    }

    /** The part of a step that belongs to one sequence. */
    private record Part(Sequence sequence, int promptTokens) {

        boolean givesToken() {
            return promptTokens == sequence.promptLeft();
        }
    }

    /** Makes the decoder of a request. */
    interface Decoders {
        Decoder decoder(Request request);
    }

    private final BrickProfiler profiler;
    private final RequestRecorder requests;
    private final ServeOptions.Load load;
    private final Decoders decoders;
    private final NanoClock clock;
    private final long seed;
    /** The work of the bricks by position. */
    private final List<Map<BrickId, Work>> works = new ArrayList<>();

    private final Deque<Request> arriving;
    private final Deque<Request> queue = new ArrayDeque<>();
    private final Deque<Long> handles = new ArrayDeque<>();
    private final List<Sequence> running = new ArrayList<>();
    private final List<LoggedStep> steps = new ArrayList<>();
    private final List<LoggedRequest> finished = new ArrayList<>();
    private long beganNs;
    private long beganElapsedNs;

    /**
     * Prepares a run.
     *
     * @param profiler the profiler of the run; switched on, with the same clock
     * @param decoders make a decoder with an empty KV cache for each request
     * @param seed the same seed gives the same requests
     */
    ServeRun(BrickProfiler profiler, ServeOptions.Load load, Decoders decoders, NanoClock clock, long seed) {
        this.profiler = profiler;
        this.requests = profiler.requests();
        this.load = load;
        this.decoders = decoders;
        this.clock = clock;
        this.seed = seed;
        this.arriving = new ArrayDeque<>(requests(load, seed));
    }

    private static List<Request> requests(ServeOptions.Load load, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        List<Request> all = new ArrayList<>();
        double atNs = 0;
        for (int number = 0; number < load.requests(); number++) {
            // The time to the next event of a Poisson process is distributed exponentially.
            atNs += -Math.log(1 - random.nextDouble()) / load.rate() * NS_PER_S;
            boolean isLong = random.nextInt(LONG_ONE_IN) == 0;
            int prompt = isLong
                    ? random.nextInt(LONG_PROMPT / 2, LONG_PROMPT + 1)
                    : random.nextInt(SHORTEST, SHORT_PROMPT + 1);
            all.add(new Request(number, (long) atNs, prompt, random.nextInt(SHORTEST, LONGEST_ANSWER + 1)));
        }
        return all;
    }

    /** Serves all requests. */
    void run() {
        beganElapsedNs = profiler.elapsedNs();
        beganNs = clock.nanoTime();
        while (finished.size() < load.requests()) {
            admit();
            if (running.isEmpty()) {
                awaitArrival();
            } else {
                step(parts());
            }
        }
    }

    private void awaitArrival() {
        long waitNs = beganNs + arriving.element().arrivesNs() - clock.nanoTime();
        if (waitNs > 0) {
            LockSupport.parkNanos(waitNs);
        }
    }

    /** Queues the requests that have arrived since the last step, and fills free slots. */
    private void admit() {
        long sinceNs = clock.nanoTime() - beganNs;
        while (!arriving.isEmpty() && arriving.element().arrivesNs() <= sinceNs) {
            Request request = arriving.remove();
            queue.add(request);
            handles.add(requests.arrivedAt(beganElapsedNs + request.arrivesNs(), request.promptTokens()));
        }
        while (!queue.isEmpty() && running.size() < load.slots()) {
            Request request = queue.remove();
            running.add(new Sequence(request, handles.remove(), decoders.decoder(request), seed + request.number()));
        }
    }

    private List<Part> parts() {
        List<Part> parts = new ArrayList<>();
        if (load.chunk() == 0) {
            for (Sequence sequence : running) {
                if (sequence.promptLeft() > 0) {
                    return List.of(new Part(sequence, sequence.promptLeft()));
                }
            }
        }
        int left = load.chunk();
        for (Sequence sequence : running) {
            int prompt = Math.min(left, sequence.promptLeft());
            left -= prompt;
            if (prompt > 0 || sequence.promptLeft() == 0) {
                parts.add(new Part(sequence, prompt));
            }
        }
        return parts;
    }

    private void step(List<Part> parts) {
        StepInfo info = info(parts);
        long startNs = clock.nanoTime();
        profiler.beginStep(info);
        parts.forEach(part -> requests.inStep(part.sequence().handle, part.promptTokens()));
        List<Sequence> giving = new ArrayList<>();
        for (Part part : parts) {
            if (part.givesToken()) {
                giving.add(part.sequence());
            }
            compute(part);
        }
        profiler.endPass();
        long endNs = clock.nanoTime();
        steps.add(new LoggedStep(
                startNs,
                endNs,
                info.prefillTokens() > 0,
                parts.stream().map(part -> part.sequence().request.number()).toList()));
        giving.forEach(sequence -> gave(sequence, endNs));
    }

    private static StepInfo info(List<Part> parts) {
        long prompt = parts.stream().mapToLong(Part::promptTokens).sum();
        boolean decodes = parts.stream().anyMatch(part -> part.promptTokens() == 0);
        return new StepInfo(
                prompt == 0 ? StepInfo.Phase.DECODE : decodes ? StepInfo.Phase.MIXED : StepInfo.Phase.PREFILL,
                parts.size(),
                prompt,
                parts.stream()
                        .mapToLong(part -> part.sequence().processed + Math.max(0, part.sequence().given - 1L))
                        .sum(),
                parts.stream().filter(Part::givesToken).count(),
                0);
    }

    private void compute(Part part) {
        Sequence sequence = part.sequence();
        int vocab = sequence.decoder.config().vocab();
        if (part.promptTokens() == 0) {
            decode(sequence, sequence.next);
        }
        for (int i = 0; i < part.promptTokens(); i++) {
            decode(sequence, sequence.prompt.nextInt(vocab));
        }
        sequence.processed += part.promptTokens();
    }

    /** Computes a token, and records the work of its bricks within the step, so that the work has the step's phase. */
    private void decode(Sequence sequence, int token) {
        sequence.next = sequence.decoder.decode(token);
        int position = sequence.position++;
        while (works.size() <= position) {
            works.add(sequence.decoder.config().work().decode(1, works.size() + 1));
        }
        works.get(position).forEach(profiler::recordWork);
    }

    private void gave(Sequence sequence, long atNs) {
        if (sequence.given++ == 0) {
            sequence.firstTokenNs = atNs;
        }
        if (sequence.given == sequence.request.outputTokens()) {
            requests.finished(sequence.handle, Outcome.LENGTH);
            running.remove(sequence);
            finished.add(new LoggedRequest(
                    sequence.request, beganNs + sequence.request.arrivesNs(), sequence.firstTokenNs, clock.nanoTime()));
        }
    }

    /** Returns the steps, in their order. */
    List<LoggedStep> steps() {
        return List.copyOf(steps);
    }

    /** Returns the requests, in the order of their finish. */
    List<LoggedRequest> finished() {
        return List.copyOf(finished);
    }
}
