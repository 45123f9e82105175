import { registerHooks } from "node:module"

/*
 * node GenerateTypes.ts URL: writes TypeScript types of an OpenAPI document to the standard output. The generator wants the
 * compiler's interface for programs, which TypeScript 7 has no more: it is given the one of TypeScript 5.
 */
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === "typescript" && context.parentURL?.includes("/openapi-typescript/") === true
      ? next("typescript-api", context)
      : next(specifier, context)
})

const { astToString, default: typesOf } = await import("openapi-typescript")
process.stdout.write(astToString(await typesOf(new URL(process.argv[2] ?? ""))))
