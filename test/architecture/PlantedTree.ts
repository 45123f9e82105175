import { execFile } from "node:child_process"
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"

const root = resolve(import.meta.dirname, "../..")

/** What oxlint says about one file: the rule, such as `stoa(layer-imports)`, and its message. */
export interface Finding {
  readonly file: string
  readonly rule: string
  readonly message: string
}

/**
 * Writes the files into a separate folder beside the project's real linter configuration, runs oxlint there and
 * gives back its findings. The folder is outside the project, so that nothing planted is ever linted for real.
 */
export const lintPlanted = async (files: Readonly<Record<string, string>>): Promise<ReadonlyArray<Finding>> => {
  const folder = await mkdtemp(join(tmpdir(), "stoa-planted-"))
  try {
    const config = await readFile(join(root, ".oxlintrc.json"), "utf8")
    await writeFile(join(folder, ".oxlintrc.json"), config.replaceAll("./node_modules/", `${root}/node_modules/`))
    await cp(join(root, "scripts/lint"), join(folder, "scripts/lint"), { recursive: true })
    await Promise.all(
      Object.entries(files).map(async ([path, source]) => {
        await mkdir(dirname(join(folder, path)), { recursive: true })
        await writeFile(join(folder, path), source)
      })
    )
    return await lint(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

interface Report {
  readonly diagnostics: ReadonlyArray<{ readonly filename: string; readonly code: string; readonly message: string }>
}

const lint = (folder: string): Promise<ReadonlyArray<Finding>> =>
  new Promise((done, fail) => {
    const args = [join(root, "node_modules/oxlint/bin/oxlint"), "--format", "json", "src", "plugins", "test"]
    execFile(process.execPath, args, { cwd: folder, maxBuffer: 64_000_000 }, (error, stdout, stderr) => {
      if (!stdout.startsWith("{")) return fail(new Error(`oxlint did not run: ${stderr}${stdout}`, { cause: error }))
      const report: Report = JSON.parse(stdout)
      done(report.diagnostics.map(({ code, filename, message }) => ({ file: filename, rule: code, message })))
    })
  })
