import { FileNames } from "./FileNames.ts"
import { LayerImports, ModuleOrder } from "./LayerImports.ts"
import { ModuleTables, PluginTables } from "./ModuleTables.ts"
import { NoAmbient } from "./NoAmbient.ts"
import { NoDoubleAssertion } from "./NoDoubleAssertion.ts"
import { NoDurationBars } from "./NoDurationBars.ts"
import { NoFatalDefects } from "./NoFatalDefects.ts"
import { NoLinkedWorkflows } from "./NoLinkedWorkflows.ts"
import { NoOrDie } from "./NoOrDie.ts"
import { NoProcessEnv } from "./NoProcessEnv.ts"
import { NoSkippedTests } from "./NoSkippedTests.ts"
import { NoSleepInTests } from "./NoSleepInTests.ts"
import { PlainWords } from "./PlainWords.ts"
import { ServiceKeys } from "./ServiceKeys.ts"

/** Stoa's own rules, for oxlint's `jsPlugins`; each is planted and caught in `test/architecture`. */
export default {
  meta: { name: "stoa" },
  rules: {
    "file-names": FileNames,
    "module-order": ModuleOrder,
    "module-tables": ModuleTables,
    "no-ambient": NoAmbient,
    "no-double-assertion": NoDoubleAssertion,
    "no-duration-bars": NoDurationBars,
    "no-fatal-defects": NoFatalDefects,
    "no-linked-workflows": NoLinkedWorkflows,
    "no-or-die": NoOrDie,
    "no-process-env": NoProcessEnv,
    "no-skipped-tests": NoSkippedTests,
    "no-sleep-in-tests": NoSleepInTests,
    "layer-imports": LayerImports,
    "plain-words": PlainWords,
    "plugin-tables": PluginTables,
    "service-keys": ServiceKeys
  }
}
