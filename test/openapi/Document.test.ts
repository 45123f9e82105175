import { it } from "@effect/vitest"
import type { HttpApi, HttpApiGroup } from "effect/http-api"
import { existsSync } from "node:fs"
import { securitySchemes } from "../../src/http/openapi/SecuritySchemes.ts"
import { describeDocument } from "./DocumentChecks.ts"

interface ApiModule {
  readonly Api: HttpApi.HttpApi<string, HttpApiGroup.Constraint>
}

const file = new URL("../../src/http/Api.ts", import.meta.url)

if (existsSync(file)) {
  const { Api }: ApiModule = await import(file.href)
  describeDocument("Stoa", Api, { securitySchemes: securitySchemes("stoa.session_token") })
} else {
  it("has no API to describe yet", () => undefined)
}
