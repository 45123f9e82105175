import { assert, describe, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"
import { domainModule, levelOf } from "../../scripts/lint/ModuleLevels.ts"

/** Files of infrastructure that knows no commerce. */
const infrastructure = globSync(["src/layers/{cluster,jobs,postgres}/**/*.ts", "src/http/openapi/**/*.ts"])

const domainImports = (file: string) =>
  Array.from(readFileSync(file, "utf8").matchAll(/from "[./]+\/domain\/([^"]+)"/g), ([, path = ""]) => path)

describe("modules of the domain", () => {
  it("all have a level", () => {
    const modules = new Set(
      globSync("src/domain/**/*.ts").map((file) => domainModule(file.replaceAll("\\", "/")) ?? file)
    )
    assert.deepStrictEqual([...modules].filter((name) => levelOf(name) === undefined), [])
  })

  it("are not known to the cluster, the job queue, the database's start and the OpenAPI document", () => {
    const known = infrastructure.flatMap((file) => domainImports(file).map((path) => `${file}: ${path}`))
    assert.isAbove(known.length, 10)
    assert.deepStrictEqual(known.filter((line) => !line.includes(": platform/")), [])
  })
})
