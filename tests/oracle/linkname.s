// Empty: with an assembly file in the package the compiler accepts the function without a body in controller.go.
