package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

final class EnvironmentTest {

    @Test
    void describesThisVirtualMachine() {
        Environment here = Environment.current();

        assertThat(here.javaVersion()).isEqualTo(System.getProperty("java.version"));
        assertThat(here.jvm()).contains(System.getProperty("java.vm.name"));
        assertThat(here.os()).contains(System.getProperty("os.name"));
        assertThat(here.arch()).isEqualTo(System.getProperty("os.arch"));
        assertThat(here.cpu()).isNotBlank();
        assertThat(here.processors()).isPositive();
        assertThat(here.clockResolutionNs()).isPositive();
    }

    @Test
    void isReadOnce() {
        assertThat(Environment.current()).isSameAs(Environment.current());
    }

    @Test
    void isOrderedByEachComponentInTurn() {
        Environment base = Samples.MACHINE;
        List<Environment> rising = List.of(
                base,
                new Environment(base.javaVersion(), base.jvm(), base.os(), base.arch(), base.cpu(), 4, 11),
                new Environment(base.javaVersion(), base.jvm(), base.os(), base.arch(), base.cpu(), 5, 1),
                new Environment(base.javaVersion(), base.jvm(), base.os(), base.arch(), "cpv", 1, 1),
                new Environment(base.javaVersion(), base.jvm(), base.os(), "bits", "a", 1, 1),
                new Environment(base.javaVersion(), base.jvm(), "OS 3", "a", "a", 1, 1),
                new Environment(base.javaVersion(), "VM 2", "a", "a", "a", 1, 1),
                new Environment("18", "a", "a", "a", "a", 1, 1));

        assertThat(new TreeSet<>(rising)).containsExactlyElementsOf(rising);
        assertThat(base)
                .isEqualByComparingTo(
                        new Environment(base.javaVersion(), base.jvm(), base.os(), base.arch(), base.cpu(), 4, 10));
    }
}
