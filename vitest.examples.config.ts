import { defineConfig } from "vitest/config"
import base from "./vitest.config.ts"

/** Records the examples of the OpenAPI document while the tests run: `npm run examples`, or `npm run examples test/carts`. */
export default defineConfig({
  ...base,
  test: {
    ...base.test,
    globalSetup: ["test/support/globalSetup.ts", "test/openapi/KeepExamples.ts"],
    setupFiles: ["effect/schema/SchemaJITCompiler/enable", "./test/openapi/RecordAnswers.ts"]
  }
})
