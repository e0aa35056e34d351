package org.brickprofiler.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.instrument.Instrumentation;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WeavingTest {

    private static final int LOADED = 300;

    private final List<Integer> portions = new ArrayList<>();

    /** Returns an instrumentation with many loaded classes, which may refuse several at once. */
    private Instrumentation instrumentation(boolean refusesSeveral) {
        return (Instrumentation) Proxy.newProxyInstance(
                WeavingTest.class.getClassLoader(),
                new Class<?>[] {Instrumentation.class},
                (proxy, method, arguments) -> {
                    if (method.getName().equals("getAllLoadedClasses")) {
                        return Collections.nCopies(LOADED, WeavingTest.class).toArray(Class<?>[]::new);
                    }
                    if (method.getName().equals("retransformClasses")) {
                        int classes = ((Class<?>[]) arguments[0]).length;
                        if (refusesSeveral && classes > 1) {
                            throw new VerifyError("one of them");
                        }
                        portions.add(classes);
                    }
                    return null;
                });
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void weavesInPortionsAndOneByOneWhereAPortionFails(boolean refusesSeveral) throws Exception {
        RuleFile.Rules rules = RuleFile.parse("rules", "annotated: [org.brickprofiler.agent]");
        Recording recording = new Recording(AgentOptions.parse("", Map.of()), () -> rules, message -> {});
        new Weaving(Path.of("rules"), rules, recording, new Messages())
                .begin(instrumentation(refusesSeveral), () -> {});
        assertThat(portions)
                .isEqualTo(refusesSeveral ? Collections.nCopies(LOADED, 1) : List.of(128, 128, LOADED - 2 * 128));
    }
}
