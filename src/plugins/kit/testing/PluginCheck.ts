/** A check that every plugin has to pass, for the test runner of its author: `it(check.name, check.run)`. */
export interface PluginCheck {
  readonly name: string
  readonly run: () => Promise<void>
}
