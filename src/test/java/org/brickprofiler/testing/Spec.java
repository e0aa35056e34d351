package org.brickprofiler.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Names the rules of {@code docs/spec} that a test checks; on a class, those that its tests check together.
 * {@code SpecificationTest} reads it from the sources.
 */
@Retention(RetentionPolicy.SOURCE)
@Target({ElementType.TYPE, ElementType.METHOD})
public @interface Spec {

    /**
     * The rules.
     *
     * @return numbers as the page writes them, such as {@code "3.4"}
     */
    String[] value();
}
