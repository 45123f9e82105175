import { Console, Data, Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { mkdir, stat, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import type { Plugin } from "../Plugin.ts"
import { optionsTable } from "../PluginOptions.ts"
import { installLines, pluginTemplate } from "./PluginTemplate.ts"

/** A plugin cannot be written as asked; one line says why. */
export class PluginNotWritten extends Data.TaggedError("PluginNotWritten")<{ readonly message: string }> {}

const exists = (path: string) => Effect.promise(() => stat(path).then(() => true, () => false))

/** Writes the files of a new plugin below `folder`; nothing that is there is touched. Gives their paths. */
export const writePlugin = Effect.fnUntraced(function*(folder: string, id: string) {
  if (!/^[a-z][a-z0-9-]{0,30}$/.test(id)) {
    return yield* new PluginNotWritten({
      message: `"${id}": an id has lower case letters, digits and hyphens, a letter first.`
    })
  }
  if (yield* exists(join(folder, id))) {
    return yield* new PluginNotWritten({ message: `${join(folder, id)} already exists.` })
  }
  const files = pluginTemplate(id)
  for (const { path, text } of files) {
    const target = join(folder, path)
    yield* Effect.promise(async () => {
      await mkdir(dirname(target), { recursive: true })
      await writeFile(target, text)
    })
  }
  return files.map(({ path }) => join(folder, path))
})

const id = Argument.String("id").pipe(Argument.withDescription("Its id, for example gift-notes"))

const create = Command.make("new", { id }, ({ id }) =>
  Effect.gen(function*() {
    // A deployment keeps its plugins beside the service; Stoa's own repository keeps them with the kit.
    const folder = (yield* exists("src/plugins/kit")) ? "src/plugins" : "plugins"
    const written = yield* writePlugin(folder, id)
    yield* Console.log(
      `${written.join("\n")}\n\nInstall it in commerce.config.ts:\n\n${
        installLines(id, folder)
      }\n\nTest it: npx vitest run ${folder}/${id}`
    )
  })).pipe(
    Command.withDescription(
      "Write a small working plugin with its test into plugins/<id>, or src/plugins/<id> in this repository"
    )
  )

const options = (plugins: ReadonlyArray<Plugin>) =>
  Command.make("options", {}, () =>
    Console.log(
      plugins.filter(({ options }) => options.length > 0).map((plugin) => `## ${plugin.id}\n\n${optionsTable(plugin)}`)
        .join("\n\n")
    )).pipe(Command.withDescription("List the options of the installed plugins, with their defaults"))

/** `stoa plugin …`, over the plugins of the deployment. */
export const pluginCommands = (plugins: ReadonlyArray<Plugin>) =>
  Command.make("plugin").pipe(
    Command.withDescription("Write plugins, list their options"),
    Command.withSubcommands([create, options(plugins)])
  )
