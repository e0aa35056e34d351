package org.brickprofiler.testing;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;

/**
 * Marks long tests that do not depend on the JDK: another program than the tests' virtual machine does the work (a
 * browser, a database, an emulated processor), or the test reads documents and sources, or it computes from fixed
 * inputs by code that other tests cover. The gate runs them on its first JDK only.
 */
@Documented
@Inherited
@Tag("one-jdk")
@net.jqwik.api.Tag("one-jdk")
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
public @interface OneJdk {}
