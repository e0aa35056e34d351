package org.brickprofiler.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.brickprofiler.agent.ClassFiles.ClassFile;
import org.objectweb.asm.ClassReader;

/** Applies rules to classes, for the tests of suggested rules. */
public final class AppliedRules {

    private AppliedRules() {}

    /** Returns the class file of a class of the tests. */
    public static ClassFile file(Class<?> type) throws IOException {
        return new ClassFile(type.getName(), Woven.file(type));
    }

    /** Returns the number of rules that apply to a class. Fails if the rules themselves have a problem. */
    public static int count(String rules, Class<?> type) throws IOException {
        assertThat(RuleFile.parse("rules", rules).problems()).isEmpty();
        return Woven.result(type, rules).applied().size();
    }

    /** Returns the errors of the rules in the classes that they concern, of which there must be some. */
    public static List<String> errors(String rules, List<ClassFile> files, ClassLoader loader) {
        Weaver weaver = Woven.weaver(rules);
        assertThat(weaver.classes()).isNotEmpty();
        List<String> errors = new ArrayList<>();
        for (ClassFile file : files) {
            if (weaver.concerns(new ClassReader(file.bytes()).getClassName())) {
                weaver.weave(file.bytes(), loader).problems().stream()
                        .filter(Weaver.Problem::isError)
                        .map(Weaver.Problem::message)
                        .forEach(errors::add);
            }
        }
        return errors;
    }
}
