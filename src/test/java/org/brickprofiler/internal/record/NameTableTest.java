package org.brickprofiler.internal.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.stream.IntStream;
import org.brickprofiler.testing.CapturedLog;
import org.brickprofiler.testing.Crew;
import org.junit.jupiter.api.Test;

final class NameTableTest {

    private static final int FIXED = 3;
    private static final int OVERFLOW = 2;
    private static final int ROOM = TimerToken.MAX_KEY + 1 - FIXED;

    private static NameTable table() {
        NameTable names = new NameTable(new String[] {"zero", "one"}, new int[] {10, 11}, "the rest", 12, null);
        names.addAlias("uno", 1);
        return names;
    }

    @Test
    void knowsItsFixedNames() {
        NameTable names = table();

        assertThat(names.size()).isEqualTo(FIXED);
        assertThat(names.find("zero")).isZero();
        assertThat(names.keyOf("one", 99)).isEqualTo(1);
        assertThat(names.find("the rest")).isEqualTo(OVERFLOW);
        assertThat(names.name(1)).isEqualTo("one");
        assertThat(names.tag(1)).as("the first tag stays").isEqualTo(11);
        assertThat(names.name(OVERFLOW)).isEqualTo("the rest");
        assertThat(names.tag(OVERFLOW)).isEqualTo(12);
    }

    @Test
    void hasTheTagsOfAllKeysInOneArray() {
        NameTable names = table();
        byte[] tags = names.tags();
        int added = names.keyOf("new", -7);

        assertThat(tags).startsWith(10, 11, 12, -7);
        assertThat(names.tag(added)).isEqualTo(-7);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> names.keyOf("far", 128))
                .withMessageContaining("tag 128 of 'far'");
        assertThat(names.find("far")).isEqualTo(NameTable.NONE);
    }

    @Test
    void anAliasIsASecondName() {
        NameTable names = table();

        assertThat(names.find("uno")).isEqualTo(1);
        assertThat(names.keyOf("uno", 99)).isEqualTo(1);
        assertThat(names.name(1)).isEqualTo("one");
        assertThat(names.size()).isEqualTo(FIXED);
    }

    @Test
    void namesAreCaseSensitive() {
        assertThat(table().find("One")).isEqualTo(-1);
    }

    @Test
    void findsNothingWithoutAName() {
        assertThat(table().find(null)).isEqualTo(-1);
        assertThat(table().find("never seen")).isEqualTo(-1);
        assertThat(table().size()).as("looking adds nothing").isEqualTo(FIXED);
    }

    @Test
    void aNewNameGetsTheNextKeyAndKeepsItAndItsTag() {
        NameTable names = table();

        assertThat(names.keyOf("new", 7)).isEqualTo(FIXED);
        assertThat(names.keyOf("newer", 8)).isEqualTo(FIXED + 1);
        assertThat(names.keyOf("new", 9)).isEqualTo(FIXED);
        assertThat(names.find("new")).isEqualTo(FIXED);
        assertThat(names.name(FIXED)).isEqualTo("new");
        assertThat(names.tag(FIXED)).isEqualTo(7);
        assertThat(names.size()).isEqualTo(FIXED + 2);
    }

    @Test
    void namesPastTheBoundShareOneKeyAndThatIsLoggedOnce() {
        NameTable names = table();
        try (CapturedLog log = new CapturedLog()) {
            for (int i = 0; i < ROOM; i++) {
                assertThat(names.keyOf("n" + i, 0)).isEqualTo(FIXED + i);
            }
            assertThat(log.linesWith("the rest")).isZero();

            assertThat(names.keyOf("too many", 0)).isEqualTo(OVERFLOW);
            assertThat(names.keyOf("far too many", 0)).isEqualTo(OVERFLOW);
            assertThat(names.keyOf("too many", 0)).isEqualTo(OVERFLOW);

            assertThat(log.linesWith("the rest")).isEqualTo(1);
            assertThat(log.linesWith("'too many'")).isEqualTo(1);
            assertThat(log.linesWith("room for " + ROOM + " names"))
                    .as("the message states the bound")
                    .isEqualTo(1);
        }
        assertThat(names.size()).isEqualTo(TimerToken.MAX_KEY + 1);
        assertThat(names.find("too many")).isEqualTo(-1);
        assertThat(names.keyOf("n17", 0))
                .as("names before the bound keep their keys")
                .isEqualTo(FIXED + 17);
        assertThat(names.keyOf("uno", 0)).isEqualTo(1);
    }

    @Test
    void spellingsOfFixedNamesTakeNoKey() {
        NameTable names = new NameTable(
                new String[] {"zero", "one"},
                new int[] {10, 11},
                "the rest",
                12,
                name -> name.startsWith("ONE") ? 1 : NameTable.NONE);
        assertThat(names.keyOf("ONE", 0)).isEqualTo(1);
        assertThat(names.find("ONE!")).isEqualTo(1);
        assertThat(names.find("two")).isEqualTo(NameTable.NONE);
        assertThat(names.size()).isEqualTo(FIXED);
        assertThat(names.keyOf("two", 0)).isEqualTo(FIXED);
        assertThat(names.find("two")).isEqualTo(FIXED);
    }

    @Test
    void threadsThatAddTheSameNamesAgreeOnTheirKeys() throws Exception {
        List<String> wanted = IntStream.range(0, 2_000).mapToObj(i -> "n" + i).toList();
        for (int round = 0; round < 5; round++) {
            NameTable names = table();
            List<FutureTask<List<Integer>>> answers = inParallel(names, wanted);

            List<Integer> keys = Crew.result(answers.get(0));
            for (FutureTask<List<Integer>> answer : answers) {
                assertThat(Crew.result(answer)).isEqualTo(keys);
            }
            assertThat(new HashSet<>(keys)).hasSize(wanted.size());
            assertThat(names.size()).isEqualTo(FIXED + wanted.size());
            for (int i = 0; i < wanted.size(); i++) {
                assertThat(names.name(keys.get(i))).isEqualTo(wanted.get(i));
                assertThat(names.find(wanted.get(i))).isEqualTo(keys.get(i));
            }
        }
    }

    @Test
    void threadsThatFillTheTableAgreeOnWhatFitted() throws Exception {
        List<String> wanted =
                IntStream.range(0, ROOM + 500).mapToObj(i -> "n" + i).toList();
        NameTable names = table();
        try (CapturedLog log = new CapturedLog()) {
            List<FutureTask<List<Integer>>> answers = inParallel(names, wanted);

            List<Integer> keys = Crew.result(answers.get(0));
            for (FutureTask<List<Integer>> answer : answers) {
                assertThat(Crew.result(answer)).isEqualTo(keys);
            }
            Set<Integer> distinct = new HashSet<>(keys);
            assertThat(distinct).hasSize(ROOM + 1).contains(OVERFLOW);
            assertThat(Collections.frequency(keys, OVERFLOW)).isEqualTo(500);
            assertThat(log.linesWith("the rest")).isEqualTo(1);
        }
    }

    /**
     * Each thread asks for all names in a random order of its own and then, for comparable results, once more in order.
     */
    private static List<FutureTask<List<Integer>>> inParallel(NameTable names, List<String> wanted) throws Exception {
        Crew crew = new Crew();
        CountDownLatch shuffled = new CountDownLatch(4);
        List<FutureTask<List<Integer>>> answers = new ArrayList<>();
        for (int seed = 0; seed < 4; seed++) {
            List<String> order = new ArrayList<>(wanted);
            Collections.shuffle(order, new Random(seed));
            answers.add(crew.start(() -> {
                shuffled.countDown();
                shuffled.await();
                order.forEach(name -> names.keyOf(name, 0));
                return wanted.stream().map(name -> names.keyOf(name, 0)).toList();
            }));
        }
        crew.join();
        return answers;
    }
}
