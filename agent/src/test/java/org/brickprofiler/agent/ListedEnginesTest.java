package org.brickprofiler.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Each shipped rule of an engine whose names, signatures and calls are listed, on classes that consist of them. The
 * name of a list is that of the rules, a dash, and the version.
 */
@Tag("one-jdk")
class ListedEnginesTest {

    private static final Path LISTS = Path.of("src", "test", "engines", "signatures");

    static List<String> lists() throws IOException {
        return EngineSignatures.names(LISTS);
    }

    @ParameterizedTest
    @MethodSource("lists")
    void eachRuleAppliesToTheListedClasses(String list) throws IOException {
        RuleFile.Rules rules = RuleFile.read(Path.of(list.substring(0, list.indexOf('-'))), 0);
        Map<String, byte[]> classes = EngineSignatures.classes(LISTS.resolve(list + ".txt"));
        ClassLoader loader = loader(classes);
        Weaver weaver = new Weaver(rules, rule -> 0);
        List<WeaveRule> applied = new ArrayList<>();
        List<String> errors = new ArrayList<>();
        for (byte[] file : classes.values()) {
            Weaver.Result result = weaver.weave(file, loader);
            applied.addAll(result.applied());
            result.problems().stream()
                    .filter(Weaver.Problem::isError)
                    .map(problem -> "line " + problem.rule().line() + ": " + problem.message())
                    .forEach(errors::add);
        }

        assertThat(rules.problems()).isEmpty();
        assertThat(errors).isEmpty();
        assertThat(applied).containsExactlyInAnyOrderElementsOf(rules.rules());
    }

    private static ClassLoader loader(Map<String, byte[]> classes) {
        return new ClassLoader(null) {
            @Override
            public InputStream getResourceAsStream(String name) {
                byte[] file = classes.get(name.replace(".class", "").replace('/', '.'));
                return file == null ? ClassLoader.getSystemResourceAsStream(name) : new ByteArrayInputStream(file);
            }
        };
    }
}
