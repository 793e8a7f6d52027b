/** Types of a module that the compiler needs, besides those that the plugin runtime declares. */
declare namespace WebAssembly {
  namespace Module {
    function exports(module: Module): readonly { readonly name: string; readonly kind: string }[];
    function imports(module: Module): readonly { readonly module: string; readonly name: string }[];
  }
}
