package org.brickprofiler.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The agent's jar holds the shipped rules without their YAML. */
@Tag("one-jdk")
final class ShippedRulesTest {

    private static final Path FOLDER = Path.of("src", "main", "resources", "org", "brickprofiler", "agent");

    @Test
    void allFilesAreTheSameAfterTheyWereStored() throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.list(FOLDER)) {
            files = all.filter(file -> file.toString().endsWith(".yaml")).toList();
        }
        assertThat(files).hasSizeGreaterThan(2).allSatisfy(file -> {
            RuleNode rules = YamlNodes.parse("rules", Files.readString(file));
            assertThat(ShippedRules.read(ShippedRules.write(rules))).isEqualTo(rules);
        });
    }

    @Test
    void aTextOfSeveralLinesIsRefused() {
        RuleNode rules = YamlNodes.parse("rules", "step:\n  in: |\n    one\n    two\n");
        assertThatThrownBy(() -> ShippedRules.write(rules)).hasMessage("line 2: a value has several lines");
    }
}
