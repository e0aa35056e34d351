package org.brickprofiler.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import java.lang.reflect.Array;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.assertj.core.groups.Tuple;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.StepInfo;
import org.brickprofiler.agent.Server.Reason;
import org.brickprofiler.request.Cause;
import org.brickprofiler.request.Outcome;
import org.brickprofiler.request.RequestRecord;
import org.brickprofiler.request.RequestRecorder;
import org.brickprofiler.request.RequestStats;
import org.brickprofiler.testing.Spec;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WovenRequestsTest {

    private static final String SERVER = "in: org.brickprofiler.agent.Server.";

    private static final String STEP = "step:\n  " + SERVER + "forward\n  tokens: tokens\n  output: gives\n";

    private static final String REASONS = "  outcomes: {MAX_TOKENS: LENGTH, STOP: COMPLETED}\n";

    private static final String PASSES = "step:\n  " + SERVER + "pass\n  tokens: promptTokens.length\n  prompt: true\n";

    private static final String ARRIVED =
            "requests:\n  arrived:\n    " + SERVER + "submit\n    request: request\n    prompt: promptTokens\n";

    private static final String IN_STEP =
            "  inStep:\n    " + SERVER + "add\n    request: request\n    prompt: promptTokens\n    gives: gives\n";

    private static final String FINISHED = "  finished:\n    - " + SERVER
            + "complete\n      request: request\n      outcome: reason\n      outcomes: {STOP: COMPLETED}\n    - "
            + SERVER
            + "cancel\n      request: request\n      outcome: CANCELLED\n";

    private static Object call(Object server, String name, @Nullable Object... arguments) throws Exception {
        for (Method method : server.getClass().getDeclaredMethods()) {
            if (method.getName().equals(name)) {
                method.setAccessible(true);
                Object result = method.invoke(server, arguments);
                return result == null ? "" : result;
            }
        }
        throw new AssertionError(name);
    }

    private static Object server(String rules) throws Exception {
        return Woven.load(Server.class, rules).getDeclaredConstructor().newInstance();
    }

    /** The constant of the enum that the woven class has of its own. */
    private static Object reason(Object server, Reason reason) throws Exception {
        Class<?> type =
                Class.forName(Reason.class.getName(), true, server.getClass().getClassLoader());
        return Objects.requireNonNull(type.getEnumConstants())[
                List.of(Reason.values()).indexOf(reason)];
    }

    private static RequestStats stats() {
        return Woven.PROFILER.requests().stats();
    }

    private static RequestRecord only() {
        List<RequestRecord> recent = Woven.PROFILER.requests().recent();
        assertThat(recent).hasSize(1);
        assertThat(stats().counts().ignoredCalls()).isZero();
        return recent.get(0);
    }

    @ParameterizedTest
    @CsvSource({
        "'', STOP, COMPLETED",
        "'  outcome: reason\n', STOP, COMPLETED",
        "'  outcome: reason\n', MAX_TOKENS, LENGTH",
        "'  outcome: result.reason\n', MAX_TOKENS, LENGTH",
        "'  outcome: result.reason()\n', CANCELLED, CANCELLED",
        "'  outcome: FAILED\n', STOP, FAILED"
    })
    void aThreadServesARequest(String outcome, Reason reason, Outcome expected) throws Exception {
        String outcomes = outcome.contains("reason") ? REASONS : "";
        Object server = server(STEP + "request:\n  " + SERVER + "serve\n" + outcome + outcomes);

        call(server, "serve", new int[][] {new int[4], new int[3]}, 3, reason(server, reason));

        RequestRecord record = only();
        assertThat(record.outcome()).isEqualTo(expected);
        assertThat(record.promptTokens()).isEqualTo(7);
        assertThat(record.outputTokens()).isEqualTo(3);
        assertThat(record.causeNs().get(Cause.OWN_PROMPT)).isPositive();
        assertThat(stats().latencies().interToken().count()).isEqualTo(2);
    }

    @Test
    void anExceptionFailsARequestWhoeverCatchesIt() throws Exception {
        Object whole = server(STEP + "request:\n  " + SERVER + "serve\n  outcome: result.reason\n" + REASONS);
        assertThatThrownBy(() -> call(whole, "serve", new int[][] {new int[2]}, 1, null))
                .isInstanceOf(InvocationTargetException.class)
                .hasRootCauseMessage("on purpose");
        assertThat(only().outcome()).isEqualTo(Outcome.FAILED);

        Object span = server(STEP + "request:\n  " + SERVER + "serveAll\n  call: serve\n  prompt: parts.length\n");
        Object reasons = Array.newInstance(reason(span, Reason.STOP).getClass(), 2);
        Array.set(reasons, 1, reason(span, Reason.STOP));
        assertThat(call(span, "serveAll", new int[][] {new int[1]}, reasons)).isEqualTo(1);
        assertThat(stats().counts().finished(Outcome.FAILED)).isEqualTo(1);
        assertThat(stats().counts().finished(Outcome.COMPLETED)).isEqualTo(1);
    }

    @Test
    void tellsConcurrentRequestsApart() throws Exception {
        Object server = server(STEP + "request:\n  " + SERVER + "serve\n");
        Object stop = reason(server, Reason.STOP);
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            int tokens = i + 2;
            threads[i] = new Thread(() -> {
                try {
                    for (int n = 0; n < 50; n++) {
                        call(server, "serve", new int[][] {new int[tokens * 10]}, tokens, stop);
                    }
                } catch (Exception failed) {
                    throw new IllegalStateException(failed);
                }
            });
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }

        assertThat(Woven.PROFILER.requests().recent())
                .hasSize(200)
                .allMatch(each -> each.promptTokens() == 10 * each.outputTokens());
        assertThat(stats().counts().ignoredCalls()).isZero();
    }

    @Test
    void aRequestWithinAnotherOneIsAPartOfIt() throws Exception {
        Object server = server(STEP + "request:\n  " + SERVER + "retry\n");
        call(server, "retry", new int[][] {new int[5]}, 3, reason(server, Reason.STOP));
        assertThat(only().promptTokens()).isEqualTo(5);
        assertThat(Woven.REQUESTS.summary()).anyMatch(each -> each.contains(" requests began within another one"));
    }

    @Test
    void aValueWithoutAnOutcomeIsNamed() throws Exception {
        Object server = server(STEP + "request:\n  " + SERVER + "serve\n  outcome: reason\n");
        call(server, "serve", new int[][] {new int[5]}, 3, reason(server, Reason.UNHEARD_OF));
        assertThat(only().outcome()).isEqualTo(Outcome.COMPLETED);
        assertThat(Woven.SAID).anyMatch(each -> each.contains("'reason': the value 'UNHEARD_OF' is no outcome"));
        assertThat(Woven.LOSSES.summary()).anyMatch(each -> each.contains("'reason' was no outcome 1 time"));
    }

    @ParameterizedTest
    @CsvSource({"STOP, false, COMPLETED", "CANCELLED, false, CANCELLED", "STOP, true, FAILED"})
    void objectsOfTheEngineAreRequests(Reason reason, boolean fails, Outcome expected) throws Exception {
        Object server = server(PASSES + ARRIVED + IN_STEP + FINISHED);
        Object one = new Object();
        String other = "other";

        call(server, "submit", one, 4, false);
        call(server, "submit", other, 1, false);
        call(server, "pass", new Object[] {one, other}, new int[] {3, 1});
        call(server, "pass", new Object[] {new String(other), one}, new int[] {0, 1});
        call(server, "cancel", other);
        try {
            call(server, "complete", one, reason(server, reason), fails);
        } catch (InvocationTargetException thrown) {
            assertThat(fails).isTrue();
        }

        assertThat(stats().counts().ignoredCalls()).isZero();
        assertThat(Woven.PROFILER.requests().recent())
                .extracting(RequestRecord::outcome, RequestRecord::promptTokens, RequestRecord::outputTokens)
                .containsExactly(Tuple.tuple(Outcome.CANCELLED, 1L, 2L), Tuple.tuple(expected, 4L, 1L));
    }

    @Test
    void aRejectedRequestFails() throws Exception {
        Object server = server(PASSES + ARRIVED + IN_STEP + FINISHED);
        assertThatThrownBy(() -> call(server, "submit", "one", 4, true)).hasRootCauseMessage("the queue is full");
        assertThat(only().outcome()).isEqualTo(Outcome.FAILED);
        call(server, "submit", "one", 4, false);
        assertThat(stats().counts().waiting()).isEqualTo(1);
        assertThat(stats().counts().abandoned()).isZero();
    }

    @Test
    void aThreadServesARequestThatHasArrived() throws Exception {
        Object server = server(STEP + ARRIVED + "request:\n  " + SERVER
                + "serve\n  request: parts\n  outcome: result.reason\n" + REASONS);
        int[][] parts = {new int[3]};
        call(server, "submit", parts, 3, false);
        call(server, "serve", parts, 2, reason(server, Reason.MAX_TOKENS));

        RequestRecord record = only();
        assertThat(record.outcome()).isEqualTo(Outcome.LENGTH);
        assertThat(record.promptTokens()).isEqualTo(3);
        call(server, "serve", parts, 2, reason(server, Reason.STOP));
        assertThat(stats().counts().arrived()).isEqualTo(1);
    }

    /** Uses a recorder of its own, so that losses of other tests do not count. */
    @Test
    void lossesAreCountedAndNamed() {
        BrickProfiler profiler = BrickProfiler.enabled();
        RequestRecorder recorder = profiler.requests();
        WovenRequests requests = new WovenRequests(recorder, new AgentLosses(message -> {}));

        requests.inStep("unknown", 0, 1);
        requests.finished(Outcome.COMPLETED, requests.take("unknown"));
        requests.arrived("one", 1, "here");
        requests.arrived("one", 1, "here");
        for (int i = 0; i < 1 << 16; i++) {
            requests.arrived(i, 1, "here");
        }
        long depth = requests.startRequest(1, "there");
        requests.endRequest(Outcome.COMPLETED, requests.startRequest(1, "there"));
        assertThat(requests.summary())
                .containsExactly(
                        "1 request began within another one of the same thread, and counts as a part of it: name one"
                                + " method for each request under request:",
                        "2 calls changed nothing, since their objects had not arrived as requests, or had finished",
                        "1 object arrived again before it had finished, and its earlier request was given up",
                        "1 request was given up without a finish: finished: misses a way in which a request ends");

        requests.discard();
        profiler.reset();
        requests.endRequest(Outcome.COMPLETED, depth);
        requests.inStep(7, 0, 1);
        assertThat(requests.summary())
                .containsExactly(
                        "65,537 requests were under way at the end of the warm-up or at a reset, and do not count");
        assertThat(recorder.stats().counts().ignoredCalls()).isZero();
    }

    /** A server waits for its turn in a method of its own, and generates in another one. */
    @Test
    void aRequestCountsFromTheOuterOfTwoMethodsAndHasThePromptOfTheInnerOne() {
        BrickProfiler profiler = BrickProfiler.enabled();
        RequestRecorder recorder = profiler.requests();
        WovenRequests requests = new WovenRequests(recorder, new AgentLosses(message -> {}));

        for (int i = 0; i < 2; i++) {
            long outer = requests.startRequest(WovenRequests.UNKNOWN, "the call of Server.generate");
            long inner = requests.startRequest(7, "the call of Llama.generate");
            requests.stepBegins();
            profiler.beginStep(StepInfo.prefill(7));
            profiler.endPass();
            requests.endRequest(Outcome.COMPLETED, inner);
            requests.endRequest(Outcome.COMPLETED, outer);
        }

        assertThat(requests.summary()).isEmpty();
        assertThat(recorder.recent())
                .extracting(RequestRecord::promptTokens, RequestRecord::outputTokens)
                .containsExactly(tuple(7L, 1L), tuple(7L, 1L));
        assertThat(recorder.stats().countedFrom()).containsExactly("the call of Server.generate");

        long outer = requests.startRequest(WovenRequests.UNKNOWN, "the call of Server.generateAll");
        for (int i = 0; i < 3; i++) {
            requests.endRequest(Outcome.COMPLETED, requests.startRequest(1, "the call of Llama.generate"));
        }
        requests.endRequest(Outcome.FAILED, outer);
        assertThat(requests.summary()).singleElement().asString().startsWith("2 requests began within another one");
    }

    /** A call at the wrong place does not make the prompt longer. */
    @Test
    void aPromptHasTheTokensOfItsStepsAlone() {
        BrickProfiler profiler = BrickProfiler.enabled();
        RequestRecorder recorder = profiler.requests();
        WovenRequests requests = new WovenRequests(recorder, new AgentLosses(message -> {}));

        long one = requests.arrived("one", WovenRequests.UNKNOWN, "here");
        requests.inStep("one", 5, 0);
        profiler.beginStep(StepInfo.prefill(5));
        requests.inStep("one", 5, 0);
        profiler.beginStep(StepInfo.prefill(5));
        requests.inStep("one", 5, 0);
        requests.inStep("one", 5, 0);
        profiler.endPass();
        requests.finished(Outcome.COMPLETED, one);

        assertThat(recorder.recent()).singleElement().satisfies(record -> assertThat(record.promptTokens())
                .isEqualTo(5));
        assertThat(recorder.stats().counts().ignoredCalls()).isEqualTo(3);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "request:\\n  IN.serve\\n | there is no step:, so no step would work on a request",
                "STEPrequests:\\n"
                        + "  finished:\\n"
                        + "    IN.cancel\\n"
                        + "    request: request\\n"
                        + " | arrived: is missing under requests:",
                "STEPrequests:\\n"
                        + "  arrived:\\n"
                        + "    IN.submit\\n"
                        + "    request: request\\n"
                        + " | inStep: is missing under requests:",
                "STEPrequests:\\n"
                        + "  arrived:\\n"
                        + "    IN.submit\\n"
                        + "    request: request\\n"
                        + "  inStep:\\n"
                        + "    IN.add\\n"
                        + "    request: request\\n"
                        + "    prompt: promptTokens\\n"
                        + " | finished: is missing under requests:",
                "STEPrequests:\\n"
                        + "  arrived:\\n"
                        + "    IN.submit\\n"
                        + "    request: request\\n"
                        + "  inStep:\\n"
                        + "    IN.add\\n"
                        + "    request: request\\n"
                        + "    prompt: promptTokens\\n"
                        + "  finished:\\n"
                        + "    IN.cancel\\n"
                        + "    request: request\\n"
                        + " | neither prompt: of arrived nor gives: of inStep is written",
                "STEPrequests:\\n  arrived:\\n    IN.submit\\n | request: is missing",
                "STEPrequests:\\n"
                        + "  arrived:\\n"
                        + "    IN.submit\\n"
                        + "    request: result\\n"
                        + " | 'result' is known only when the method returns",
                "STEPrequests:\\n  arrived:\\n    IN.submit\\n    request: 5\\n | '5' is not an object",
                "STEPrequests:\\n  inStep:\\n    IN.add\\n    request: request\\n | prompt: is missing",
                "STEPrequest:\\n"
                        + "  IN.serve\\n"
                        + "  outcome: reason\\n"
                        + "  outcomes: {STOP: DONE}\\n"
                        + " | there is no outcome 'DONE'; the closest",
                "STEPrequest:\\n  IN.serve\\n  outcomes: {STOP: FAILED}\\n | outcomes: needs outcome:"
            })
    void refusesRulesThatCannotWork(String rules, String message) {
        String text = rules.replace("\\n", "\n")
                .replace("STEP", STEP)
                .replace("IN", SERVER.substring(0, SERVER.length() - 1));
        assertThat(problems(text)).anyMatch(each -> each.contains(message));
    }

    private static List<String> problems(String text) {
        try {
            return RuleFile.parse("rules", text).problems();
        } catch (IllegalArgumentException none) {
            return List.of(String.valueOf(none.getMessage()));
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "cancel | outcome: result      | cancel returns nothing: there is no 'result'",
                "serve  | outcome: result.size | has no field 'size'",
                "serve  | outcome: parts       | 'parts' has the type int[][], which says no outcome",
                "serve  | outcome: raisin      | serve has no parameter 'raisin'; the closest that exist: reason"
            })
    void refusesOutcomesThatDoNotExist(String method, String outcome, String message) throws Exception {
        assertThat(Woven.messages(
                        Woven.result(Server.class, STEP + "request:\n  " + SERVER + method + "\n  " + outcome + "\n")))
                .singleElement()
                .asString()
                .contains(message);
    }

    private static List<String> ids() {
        return Woven.PROFILER.requests().recent().stream()
                .map(record -> record.identity().id().orElse("-"))
                .toList();
    }

    @Spec("25.23")
    @ParameterizedTest
    @CsvSource({"tokens, 3", "reason.name(), STOP", "parts.length, 2", "reason, -", "this, -"})
    void theServedRequestHasTheIdOfTheEngine(String path, String expected) throws Exception {
        Object server = server(STEP + "request:\n  " + SERVER + "serve\n  id: " + path + "\n");

        call(server, "serve", new int[][] {new int[4], new int[3]}, 3, reason(server, Reason.STOP));

        assertThat(ids()).containsExactly(expected);
        assertThat(only().outputTokens()).isEqualTo(3);
    }

    /** The value behind a path may be missing. */
    @Spec("25.23")
    @Test
    void aRequestWithoutTheIdIsServed() throws Exception {
        Object server = server(STEP + "request:\n  " + SERVER + "serve\n  id: reason.name()\n");
        assertThatThrownBy(() -> call(server, "serve", new int[][] {new int[2]}, 1, null))
                .hasRootCauseMessage("on purpose");
        assertThat(ids()).containsExactly("-");
    }

    @Spec("25.23")
    @Test
    void requestsThatArriveHaveTheIdsOfTheEngine() throws Exception {
        Object server = server(PASSES
                + ARRIVED.replace("    request: request\n", "    request: request\n    id: request\n")
                + IN_STEP
                + FINISHED);
        UUID uuid = UUID.randomUUID();
        for (Object request : new Object[] {"one\n", 17L, uuid, new Object()}) {
            call(server, "submit", request, 2, false);
            call(server, "complete", request, reason(server, Reason.STOP), false);
        }
        assertThat(ids()).containsExactly("one\n", "17", uuid.toString(), "-");
        assertThatThrownBy(() -> call(server, "submit", "full", 2, true)).hasRootCauseMessage("the queue is full");
        assertThat(ids()).endsWith("full");
    }

    private static List<String> models() {
        return Woven.PROFILER.requests().recent().stream()
                .map(record -> record.identity().model().orElse("-"))
                .toList();
    }

    @Spec("25.28")
    @Test
    void requestsHaveTheModelsOfTheEngine() throws Exception {
        Object server = server(STEP + "request:\n  " + SERVER + "serve\n  id: tokens\n  model: reason.name()\n");
        call(server, "serve", new int[][] {new int[4], new int[3]}, 3, reason(server, Reason.STOP));
        assertThat(models()).containsExactly("STOP");
        assertThat(ids()).containsExactly("3");

        Object batches = server(PASSES
                + ARRIVED.replace("    request: request\n", "    request: request\n    model: request\n")
                + IN_STEP
                + FINISHED);
        for (Object request : new Object[] {"one", 17L, new Object()}) {
            call(batches, "submit", request, 2, false);
            call(batches, "complete", request, reason(batches, Reason.STOP), false);
        }
        assertThat(models()).containsExactly("one", "17", "-");
    }

    /** The outer method decides; the inner one may know the id that the outer one lacks. */
    @Spec("25.23")
    @Test
    void aNestedCallNamesTheRequestThatHasNoName() {
        BrickProfiler profiler = BrickProfiler.enabled();
        WovenRequests requests = new WovenRequests(profiler.requests(), new AgentLosses(message -> {}));
        for (Object outerId : new Object[] {"outer", null}) {
            long outer = requests.startRequest(1, "there");
            requests.name(outer, true, outerId);
            long inner = requests.startRequest(1, "here");
            requests.name(inner, true, "inner");
            requests.name(inner, true, "again");
            requests.model(outer, true, outerId);
            requests.model(inner, true, "inner model");
            requests.endRequest(Outcome.COMPLETED, inner);
            requests.endRequest(Outcome.COMPLETED, outer);
        }
        requests.name(0, true, "none");
        assertThat(profiler.requests().recent())
                .extracting(record -> record.identity().id().orElse("-"))
                .containsExactly("outer", "inner");
        assertThat(profiler.requests().recent())
                .extracting(record -> record.identity().model().orElse("-"))
                .containsExactly("outer", "inner model");
        long third = requests.startRequest(1, "there");
        requests.name(third, true, List.of());
        assertThat(requests.summary()).anyMatch(line -> line.startsWith("1 id or model was no string, number or UUID"));
    }
}
