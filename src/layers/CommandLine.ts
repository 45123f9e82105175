import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Data, Effect, Layer, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { writeFile } from "node:fs/promises"
import deployment from "../../commerce.config.ts"
import { ExportFormat, FileEncoding, ImportFormat, Kind } from "../domain/import-export/Import.ts"
import { pluginCommands } from "../plugins/kit/install/PluginCommand.ts"
import { documentWith } from "../plugins/kit/install/PluginDocument.ts"
import { keyCommands } from "./access/ApiKeyCommand.ts"
import { announce, databaseApp, loggingLayer, processApp, servicesApp } from "./App.ts"
import { type AppSettings, readSettings } from "./config/AppConfig.ts"
import { examine } from "./Doctor.ts"
import { sayWhy, unhandledRejectionsLayer, watchEnd } from "./EndOfProcess.ts"
import { type AskedExport, type AskedImport, importExportCommands } from "./import-export/ImportExportCommand.ts"
import { runQueue, tellRun } from "./jobs/JobRunner.ts"
import { previewMail, previewTemplates } from "./mail/MailPreview.ts"
import { migrate } from "./Migrations.ts"
import { answersOn, farewellLayer, runMain } from "./RunMain.ts"
import { seedDemoStore } from "./seed/DemoStoreRepo.ts"
import { onLasting, waitingForDatabase } from "./start/BusyDatabase.ts"
import { mustListen } from "./start/PortChecks.ts"
import { version } from "./Version.ts"

const optionalText = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.optional)

const configured = readSettings(deployment)

const services = (settings: AppSettings) =>
  Layer.provide(servicesApp({ ...settings, role: "api" }), loggingLayer(settings))

const role = Flag.Literals("role", ["all", "api", "runner"]).pipe(
  Flag.withDescription("What this process does: everything, the HTTP edge alone, or the actors alone (STOA_ROLE)"),
  Flag.optional
)

const serve = Command.make("serve", { role }, (flags) =>
  Effect.gen(function*() {
    const settings = yield* readSettings(deployment, Option.getOrUndefined(flags.role))
    yield* mustListen(settings)
    const ready = Layer.effectDiscard(
      Effect.andThen(settings.databaseUrl._tag === "None" ? seedDemoStore : Effect.void, announce)
    )
    const service = Layer.merge(ready, unhandledRejectionsLayer).pipe(Layer.provideMerge(processApp(settings)))
    // Log the startup error first: shutting down can take seconds.
    return yield* Layer.build(service).pipe(
      Effect.tapCause(onLasting(sayWhy)),
      Effect.andThen(answersOn(settings.role === "runner" ? 0 : settings.graceMs)),
      Effect.andThen(Effect.onInterrupt(Effect.never, () => Effect.logInfo("stopping: what is under way is finished"))),
      Effect.scoped,
      waitingForDatabase,
      Effect.onInterrupt(() => Effect.logInfo("stopped")),
      Effect.provide(Layer.merge(loggingLayer(settings), farewellLayer))
    )
  })).pipe(Command.withDescription("Start the service, with a demo store when the embedded database is empty"))

const migrateCommand = Command.make("migrate", {}, () =>
  Effect.gen(function*() {
    const settings = yield* configured
    const ran = yield* Effect.provide(migrate, databaseApp(settings))
    yield* Console.log(ran.length === 0 ? "The tables are up to date." : `Migrated: ${ran.join(", ")}`)
  })).pipe(Command.withDescription("Bring the tables of every module up to date"))

const seed = Command.make("seed", {}, () =>
  Effect.gen(function*() {
    const settings = yield* configured
    yield* Effect.provide(seedDemoStore, services(settings))
  })).pipe(Command.withDescription("Fill an empty store with demo products, prices, stock and a promotion"))

const output = Flag.String("output").pipe(
  Flag.withAlias("o"),
  Flag.withDescription("File to write; the terminal when absent"),
  Flag.optional
)

class FileNotWritten extends Data.TaggedError("FileNotWritten")<{ readonly message: string }> {}

const writeOutput = (output: Option.Option<string>, text: string) =>
  Option.isNone(output) ? Console.log(text) : Effect.tryPromise({
    try: () => writeFile(output.value, `${text}\n`),
    catch: (error) => new FileNotWritten({ message: `${output.value} cannot be written: ${String(error)}` })
  })

const openapi = Command.make("openapi", { output }, ({ output }) =>
  Effect.gen(function*() {
    const settings = yield* configured
    const text = JSON.stringify(documentWith(settings, deployment.plugins ?? [], version), null, 2)
    yield* writeOutput(output, text)
  })).pipe(Command.withDescription("Write the OpenAPI 3.0 document of the API"))

const template = Argument.Literals("template", previewTemplates(deployment.plugins ?? [])).pipe(
  Argument.withDescription("Template to render with sample data")
)
const locale = optionalText("locale", "Language tag of the mail; the deployment's when absent")

const preview = Command.make(
  "preview",
  { template, locale, output },
  ({ locale, output, template }) =>
    Effect.gen(function*() {
      const settings = yield* configured
      yield* writeOutput(output, yield* previewMail(settings, template, Option.getOrUndefined(locale)))
    })
).pipe(Command.withDescription("Render a mail as HTML, with the deployment's templates"))

const mail = Command.make("mail").pipe(
  Command.withDescription("Mails to customers"),
  Command.withSubcommands([preview])
)

const doctor = Command.make("doctor", {}, () => examine(deployment)).pipe(
  Command.withDescription("Check configuration, ports, database and tables, and say what to do")
)

const queue = Flag.String("queue").pipe(Flag.withDescription("Queue to run"), Flag.withDefault("default"))
const limit = Flag.Int("limit").pipe(Flag.withDescription("Jobs at most, 1 to 100"), Flag.withDefault(10))

const runJobs = Command.make("run", { queue, limit }, ({ limit, queue }) =>
  Effect.gen(function*() {
    const settings = yield* configured
    const counts = yield* Effect.provide(runQueue(queue, limit), services(settings))
    yield* Console.log(tellRun(queue, counts))
  })).pipe(Command.withDescription("Run due background jobs of a queue once"))

const jobs = Command.make("jobs").pipe(
  Command.withDescription("Background jobs"),
  Command.withSubcommands([runJobs])
)

const org = optionalText("org", "Organization of the key; the default one when absent")

const lines = (text: ReadonlyArray<string>) => Console.log(text.join("\n"))

const keyName = Flag.String("name").pipe(Flag.withDescription("Purpose of the key, shown in the list"))
const keyRole = optionalText("role", "Role whose permissions the key has, such as staff")
const keyScope = optionalText("scope", "In place of a role: one of the deployment's scopes (auth.apiKeyScopes)")
const expires = optionalText("expires", "When it runs out: a span such as 12h, 90d or 8w, or a date; never when absent")

const createKey = Command.make(
  "create",
  { name: keyName, role: keyRole, scope: keyScope, org, expires },
  (asked) => Effect.flatMap(configured, (settings) => Effect.flatMap(keyCommands(settings).create(asked), lines))
).pipe(
  Command.withDescription("Make an API key and show it, this once")
)

const listKeys = Command.make(
  "list",
  { org },
  ({ org }) => Effect.flatMap(configured, (settings) => Effect.flatMap(keyCommands(settings).list(org), lines))
).pipe(
  Command.withDescription("List the API keys of an organization")
)

const keyId = Argument.String("id").pipe(Argument.withDescription("Id of the key, as the list shows it"))

const revokeKey = Command.make(
  "revoke",
  { id: keyId, org },
  ({ id, org }) =>
    Effect.flatMap(configured, (settings) => Effect.flatMap(keyCommands(settings).revoke(id, org), lines))
).pipe(
  Command.withDescription("Revoke an API key at once, in every process")
)

const apiKey = Command.make("api-key").pipe(
  Command.withDescription("API keys of integrations"),
  Command.withSubcommands([createKey, listKeys, revokeKey])
)

const fileArgument = Argument.String("file").pipe(Argument.withDescription("File to read"))
const importedKind = Flag.Literals("kind", Kind.literals).pipe(
  Flag.withDescription("What the file holds"),
  Flag.withDefault("catalog" as const)
)
const exportedKind = Flag.Literals("kind", Kind.literals).pipe(
  Flag.withDescription("What the file is to hold"),
  Flag.withDefault("catalog" as const)
)
const importFormat = Flag.Literals("format", ImportFormat.literals).pipe(
  Flag.withDescription("How it is written; as its name ends when absent (.csv, .jsonl, .ndjson)"),
  Flag.optional
)
const exportFormat = Flag.Literals("format", ExportFormat.literals).pipe(
  Flag.withDescription("How it is to be written"),
  Flag.withDefault("csv" as const)
)
const fileOrg = optionalText("org", "Organization; the default one when absent")
const dryRun = Flag.Boolean("dry-run").pipe(
  Flag.withDescription("Say what would happen, and change nothing"),
  Flag.withDefault(false)
)
const currency = optionalText("currency", "Currency of prices in files of other shops; the store's when absent")
const warehouse = optionalText("warehouse", "Code of the warehouse of stock that names none; the first one when absent")
const pictures = Flag.Boolean("pictures").pipe(
  Flag.withDescription("Fetch pictures that files of other shops name; done when absent, --no-pictures leaves them"),
  Flag.optional
)
const encoding = Flag.Literals("encoding", FileEncoding.literals).pipe(
  Flag.withDescription("Of the text of the file; UTF-8 or UTF-16, as its bytes say, when absent"),
  Flag.optional
)
const out = Flag.String("out").pipe(
  Flag.withAlias("o"),
  Flag.withDescription("File to write; the terminal when absent"),
  Flag.optional
)

const importFlags = {
  file: fileArgument,
  kind: importedKind,
  format: importFormat,
  org: fileOrg,
  dryRun,
  currency,
  warehouse,
  pictures,
  encoding
}

const importFile = (asked: AskedImport) =>
  Effect.flatMap(configured, (settings) => importExportCommands(settings).import(asked, process.stderr))

const importCommand = Command.make("import", importFlags, importFile).pipe(
  Command.withDescription("Import a file; exit code 1 when a record was refused")
)

const exportFlags = { kind: exportedKind, format: exportFormat, org: fileOrg, out }

const exportFile = (asked: AskedExport) =>
  Effect.flatMap(configured, (settings) => importExportCommands(settings).export(asked, process.stdout))

const exportCommand = Command.make("export", exportFlags, exportFile).pipe(
  Command.withDescription("Write all records of a kind into a file")
)

const stoa = Command.make("stoa").pipe(
  Command.withDescription("Stoa, a headless commerce backend"),
  Command.withSubcommands([
    serve,
    migrateCommand,
    seed,
    importCommand,
    exportCommand,
    openapi,
    apiKey,
    jobs,
    mail,
    doctor,
    pluginCommands(deployment.plugins ?? [])
  ])
)

export const runCommandLine = (): void =>
  stoa.pipe(
    Command.run({ version }),
    Effect.provide(NodeServices.layer),
    Effect.tapCause(sayWhy),
    runMain({ disableErrorReporting: true, ...watchEnd() })
  )
